"""Reading pages in a browser, and noticing what goes wrong there."""

from contextlib import contextmanager

from axe_playwright_python.sync_playwright import Axe

WIDE, PHONE = (1280, 900), (390, 844)

# Milliseconds; busy machines are slow, and no test is about speed.
PATIENCE = 180_000

GRAVE = ("serious", "critical")


@contextmanager
def reading(browser, folder, size=WIDE, **settings):
    """Open pages of the site; at the end, nothing may have gone wrong unseen."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, **settings)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    complaints = []
    page.on("console", lambda message: complaints.append(message.text))
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("dialog", lambda dialog: complaints.append(dialog.message))
    root = folder.as_uri()
    page.on("request", lambda asked: leaves(asked.url, root) and complaints.append(asked.url))
    try:
        yield page, lambda name: page.goto(f"{root}/{name}")
        assert complaints == []
    finally:
        context.close()


def leaves(address, root):
    return not address.startswith((root, "data:", "blob:"))


def fits(page):
    """Whether nothing of the page lies beyond its sides."""
    return page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def grave_findings(page):
    """Open all that can be opened, and list what an accessibility checker finds serious."""
    page.evaluate("document.querySelectorAll('details').forEach((one) => (one.open = true))")
    # What passed is not asked for: to describe thousands of nodes takes longer than to check them.
    options = {"preload": False, "resultTypes": ["violations"]}
    found = Axe().run(page, options=options).response["violations"]
    return [(one["id"], one["nodes"][0]["html"]) for one in found if one["impact"] in GRAVE]
