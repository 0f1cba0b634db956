// Sorting of tables, pictures to take along, and a switch of language that stays at the same place.
"use strict";
(function () {
  // What stands for "missing" goes last, "infinite" after all numbers.
  function keyOf(cell) {
    const text = cell.textContent.trim();
    if (text === "–" || text === "") return null;
    const plain = text.replace(/,/g, "");
    if (plain === "∞") return Infinity;
    if (plain === "-∞") return -Infinity;
    const number = /^[-+]?[\d.]+(e[-+]?\d+)?%?$/i.test(plain) ? parseFloat(plain) : NaN;
    return Number.isNaN(number) ? text : number;
  }

  const collator = new Intl.Collator(document.documentElement.lang, { numeric: true });

  function compare(one, other) {
    if (one === null || other === null) return 0;
    if (typeof one === "number" && typeof other === "number") return one - other;
    return collator.compare(String(one), String(other));
  }

  function sort(table, column, descending) {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => ({ row, key: keyOf(row.cells[column]) }));
    rows.sort((one, other) => {
      if ((one.key === null) !== (other.key === null)) return one.key === null ? 1 : -1;
      const order = compare(one.key, other.key);
      return descending ? -order : order;
    });
    for (const { row } of rows) body.append(row);
  }

  function makeSortable(table) {
    const headings = Array.from(table.tHead.rows[table.tHead.rows.length - 1].cells);
    headings.forEach((heading, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.append(...heading.childNodes);
      heading.append(button);
      button.addEventListener("click", () => {
        const descending = heading.getAttribute("aria-sort") === "ascending";
        for (const other of headings) other.removeAttribute("aria-sort");
        heading.setAttribute("aria-sort", descending ? "descending" : "ascending");
        sort(table, column, descending);
      });
    });
  }

  // A picture as a file of its own: with the shapes that it takes from the page.
  function standalone(picture) {
    const copy = picture.cloneNode(true);
    const space = "http://www.w3.org/2000/svg";
    const shapes = document.createElementNS(space, "defs");
    const waiting = [copy];
    const taken = new Set();
    while (waiting.length) {
      for (const use of waiting.pop().querySelectorAll("use")) {
        const id = use.getAttribute("href").slice(1);
        const shape = document.getElementById(id);
        if (shape && !taken.has(id)) {
          taken.add(id);
          shapes.append(shape.cloneNode(true));
          waiting.push(shape);
        }
      }
    }
    copy.prepend(shapes);
    copy.setAttribute("xmlns", space);
    return new XMLSerializer().serializeToString(copy);
  }

  function offerPicture(section) {
    const picture = section.querySelector(".picture svg");
    const list = section.querySelector(".files");
    if (!picture || !list) return;
    const link = document.createElement("a");
    link.textContent = `${section.id}.svg`;
    link.href = `#${section.id}`;
    link.download = link.textContent;
    const prepare = () => {
      const file = new Blob([standalone(picture)], { type: "image/svg+xml" });
      link.href = URL.createObjectURL(file);
    };
    link.addEventListener("click", prepare);
    const entry = document.createElement("li");
    entry.append(link, ` ${list.dataset.picture}`);
    list.append(entry);
  }

  function keepPlace() {
    for (const link of document.querySelectorAll("a.switch")) {
      link.hash = window.location.hash;
    }
  }

  document.querySelectorAll("main table:not(.matrix)").forEach(makeSortable);
  document.querySelectorAll(".artifact").forEach(offerPicture);
  window.addEventListener("hashchange", keepPlace);
  keepPlace();
})();
