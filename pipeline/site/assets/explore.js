// The explorers of the tile sweep and of the decode timeline. Data: data/*.js, words: in the page.
"use strict";
(function () {
  const COLOURS = ["#0072B2", "#D55E00", "#009E73", "#A66F00", "#B0528A", "#2B8CC4", "#000000"];
  const DASHES = ["", "8 4", "2 3", "10 3 2 3", "5 5", "14 4", "3 6"];

  function element(name, attributes = {}, ...children) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function drawn(name, attributes = {}, ...children) {
    const made = document.createElementNS("http://www.w3.org/2000/svg", name);
    for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
    made.append(...children);
    return made;
  }

  function filled(template, values) {
    return template.replace(/\{(\w+)\}/g, (whole, key) => (key in values ? values[key] : whole));
  }

  function digits(value, count = 3) {
    return Number(value.toPrecision(count)).toLocaleString("en", { maximumSignificantDigits: count });
  }

  function chooser(label, options, chosen, changed) {
    const select = element("select");
    options.forEach(([value, text]) => select.append(element("option", { value }, text)));
    select.value = chosen;
    select.addEventListener("change", () => changed(select.value));
    return { field: element("label", {}, label, select), select };
  }

  // One stop of the tab key for many cells or points; arrows move among them.
  function roving(grid, shown) {
    let [row, column] = [0, 0];
    const at = (r, c) => grid[r] && grid[r][c];
    const enter = (r, c, focus) => {
      at(row, column)?.setAttribute("tabindex", "-1");
      [row, column] = [r, c];
      at(row, column).setAttribute("tabindex", "0");
      if (focus) at(row, column).focus();
    };
    const steps = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
    grid.forEach((cells, r) =>
      cells.forEach((cell, c) => {
        if (!cell) return;
        cell.setAttribute("tabindex", "-1");
        cell.addEventListener("keydown", (event) => {
          const step = steps[event.key];
          if (!step) return;
          event.preventDefault();
          let [nr, nc] = [r + step[0], c + step[1]];
          while (nr >= 0 && nr < grid.length && nc >= 0 && nc < cells.length && !at(nr, nc)) {
            nr += step[0];
            nc += step[1];
          }
          if (at(nr, nc)) enter(nr, nc, true);
        });
        cell.addEventListener("focus", () => {
          enter(r, c, false);
          shown(r, c);
        });
        cell.addEventListener("pointerenter", () => shown(r, c));
      }),
    );
    return enter;
  }

  // --- tiles ---------------------------------------------------------------------------------

  function strides(lengths) {
    const found = new Array(lengths.length).fill(1);
    for (let i = lengths.length - 2; i >= 0; i -= 1) found[i] = found[i + 1] * lengths[i + 1];
    return found;
  }

  // The codes of one GPU at every tile: a rate, or minus (1 + place of the reason).
  function spread(space, gpu) {
    let open = 0;
    return space.common.map((code) => {
      if (code) return { rate: -code, fill: -1 };
      const place = open;
      open += 1;
      return { rate: gpu.rates[place], fill: gpu.fills[place] };
    });
  }

  function blend(share) {
    const [low, high] = [[222, 235, 247], [8, 64, 124]];
    const mixed = low.map((value, i) => Math.round(value + (high[i] - value) * share));
    // Relative luminance as WCAG defines it: above this, black has the higher contrast.
    const light = mixed.map((value) => {
      const part = value / 255;
      return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
    });
    const luminance = 0.2126 * light[0] + 0.7152 * light[1] + 0.0722 * light[2];
    return { ground: `rgb(${mixed.join(",")})`, ink: luminance > 0.179 ? "#000" : "#fff" };
  }

  function exploreTiles(root, words, spaces) {
    const state = { space: 0, gpu: 0, rows: "bm", columns: "bn", fixed: {} };
    const controls = element("div", { class: "controls" });
    const status = element("p", { class: "status", role: "status" });
    const best = element("p", { class: "status" });
    const holder = element("div", { class: "scroll", tabindex: "0", role: "group", "aria-label": words.title });
    root.append(controls, best, holder, status);

    function gpuPlace() {
      return Math.max(0, spaces[state.space].gpus.findIndex((gpu) => gpu.id === root.dataset.gpu));
    }

    function set(change) {
      Object.assign(state, change);
      draw();
    }

    function fields() {
      const space = spaces[state.space];
      const names = space.axes.map(([name]) => name);
      const pairs = names.map((name) => [name, name]);
      controls.replaceChildren();
      const add = (key, label, options, chosen, changed) => {
        const made = chooser(label, options, chosen, (value) => {
          changed(value);
          fields();
          draw();
          controls.querySelector(`[data-key="${key}"]`).focus();
        });
        made.select.dataset.key = key;
        controls.append(made.field);
      };
      if (spaces.length > 1) {
        add("space", words.kind, words.kinds.slice(0, spaces.length).map((text, i) => [i, text]), state.space, (value) => {
          const id = space.gpus[state.gpu].id;
          state.space = Number(value);
          state.gpu = Math.max(0, spaces[state.space].gpus.findIndex((gpu) => gpu.id === id));
          Object.assign(state, { rows: "bm", columns: "bn", fixed: {} });
        });
      }
      add("gpu", words.gpu, space.gpus.map((gpu, i) => [i, gpu.name]), state.gpu, (value) => { state.gpu = Number(value); });
      const swap = (side, other) => (value) => {
        if (value === state[other]) state[other] = state[side];
        state[side] = value;
      };
      add("rows", words.rows, pairs, state.rows, swap("rows", "columns"));
      add("columns", words.columns, pairs, state.columns, swap("columns", "rows"));
      for (const [name, values] of space.axes) {
        if (name === state.rows || name === state.columns) continue;
        const options = [["", words.best], ...values.map((value, i) => [i, value])];
        add(name, name, options, state.fixed[name] ?? "", (value) => { state.fixed[name] = value; });
      }
    }

    // All tiles of a cell: their places in the lists.
    function places(space, row, column) {
      let found = [0];
      const lengths = space.axes.map(([, values]) => values.length);
      const step = strides(lengths);
      space.axes.forEach(([name], axis) => {
        let chosen = state.fixed[name] ?? "";
        if (name === state.rows) chosen = row;
        else if (name === state.columns) chosen = column;
        const range = chosen === "" ? Array.from({ length: lengths[axis] }, (_, i) => i) : [Number(chosen)];
        found = found.flatMap((base) => range.map((i) => base + i * step[axis]));
      });
      return found;
    }

    function tileName(space, place) {
      const step = strides(space.axes.map(([, values]) => values.length));
      return space.axes
        .map(([name, values], axis) => `${name} ${values[Math.floor(place / step[axis]) % values.length]}`)
        .join(", ");
    }

    function partName(space, row, column) {
      return space.axes
        .map(([name, values]) => {
          if (name === state.rows) return `${name} ${values[row]}`;
          if (name === state.columns) return `${name} ${values[column]}`;
          const chosen = state.fixed[name] ?? "";
          return chosen === "" ? "" : `${name} ${values[chosen]}`;
        })
        .filter(Boolean)
        .join(", ");
    }

    function said(space, codes, place, template) {
      const [kernel, bound] = space.pairs[codes[place].fill];
      const rate = digits(codes[place].rate / 1000);
      return filled(template, { tile: tileName(space, place), rate, kernel, bound: words.names[bound] ?? bound });
    }

    function whyNot(space, codes, row, column) {
      const inside = places(space, row, column);
      const counted = new Map();
      for (const place of inside) {
        const [kernel, rule, exact] = space.reasons[-codes[place].rate - 1];
        const text = words.exact && exact && inside.length === 1 ? exact : (words.rules[rule] ?? exact);
        const key = filled(words.whyOne, { kernel, rule: text });
        counted.set(key, (counted.get(key) ?? 0) + 1);
      }
      const common = [...counted].sort((one, other) => other[1] - one[1]).slice(0, 3);
      const tile = partName(space, row, column);
      const head = filled(inside.length > 1 ? words.excluded : words.excludedOne, { tile, count: inside.length });
      const reasons = common.map(([text, count]) => (inside.length > 1 ? filled(words.counted, { text, count }) : text));
      return `${head} ${reasons.join("; ")}.`;
    }

    function draw() {
      const space = spaces[state.space];
      const gpu = space.gpus[state.gpu];
      const codes = spread(space, gpu);
      const [rows, columns] = [state.rows, state.columns].map((name) => space.axes.find(([axis]) => axis === name)[1]);
      const cells = rows.map((_, r) =>
        columns.map((__, c) => places(space, r, c).reduce((one, other) => (codes[other].rate > codes[one].rate ? other : one))),
      );
      const rates = cells.flat().map((place) => codes[place].rate).filter((rate) => rate > 0);
      const [least, most] = [Math.min(...rates), Math.max(...rates)];
      const table = element("table", { class: "heat" });
      table.append(element("caption", {}, filled(words.caption, { n: space.n.toLocaleString("en"), gpu: gpu.name })));
      const head = element("tr", {}, element("td", {}, `${state.rows} \\ ${state.columns}`));
      columns.forEach((value) => head.append(element("th", { scope: "col" }, String(value))));
      const body = element("tbody");
      table.append(element("thead", {}, head), body);
      let top = null;
      const grid = cells.map((line, r) => {
        const row = element("tr", {}, element("th", { scope: "row" }, String(rows[r])));
        body.append(row);
        return line.map((place, c) => {
          const rate = codes[place].rate;
          const cell = element("td", { class: rate > 0 ? "" : "empty" }, rate > 0 ? digits(rate / 1000) : "–");
          if (rate > 0) {
            const look = blend(most > least ? (rate - least) / (most - least) : 1);
            cell.style.background = look.ground;
            cell.style.color = look.ink;
            if (rate === most && !top) {
              top = { place, r, c };
              cell.className = "top-rate";
              cell.append(element("span", { "aria-hidden": "true" }, " ★"), element("span", { class: "unseen" }, ` ${words.star}`));
            }
          }
          row.append(cell);
          return cell;
        });
      });
      const show = (r, c) => {
        const place = cells[r][c];
        status.textContent = codes[place].rate > 0 ? said(space, codes, place, words.rate) : whyNot(space, codes, r, c);
      };
      const enter = roving(grid, show);
      enter(top ? top.r : 0, top ? top.c : 0, false);
      holder.replaceChildren(table);
      best.textContent = top ? said(space, codes, top.place, words.summary) : words.none;
      status.textContent = "";
    }

    state.gpu = gpuPlace();
    fields();
    set({});
  }

  // --- timelines -----------------------------------------------------------------------------

  function reader(data) {
    const places = new Map([...data.signs].map((sign, i) => [sign, i]));
    const base = data.signs.length;
    return (held, gpu, at) => {
      let place = 0;
      for (const name of held.axes) {
        const length = data.axes.find(([axis]) => axis === name)[2].length;
        place = place * length + at[name];
      }
      const text = held.times[gpu].slice(3 * place, 3 * place + 3);
      const k = [...text].reduce((sum, sign) => sum * base + places.get(sign), 0);
      return data.low * Math.exp(k * data.step);
    };
  }

  function exploreTimeline(root, words, data) {
    const time = reader(data);
    const middle = (values) => Math.floor((values.length - 1) / 2);
    const state = {
      gpu: Math.max(0, data.gpus.findIndex(([id]) => id === root.dataset.gpu)),
      at: Object.fromEntries(data.axes.map(([name, , values]) => [name, middle(values)])),
      against: data.axes[0][0],
    };
    const longest = (name) => data.axes.find(([axis]) => axis === name)[2];
    const valueText = (name, place) => {
      const [, unit, values] = data.axes.find(([axis]) => axis === name);
      const value = values[place];
      if (unit === "s") return `${digits(value * 1e6)} µs`;
      if (unit === "byte") return `${digits(value / 1024)} KiB`;
      return value.toLocaleString("en");
    };
    const controls = element("div", { class: "controls" });
    const sliders = element("div", { class: "controls sliders" });
    const bars = element("div", { class: "scroll whole-width", tabindex: "0", role: "group", "aria-label": words.time });
    const choose = element("div", { class: "controls" });
    const legend = element("p", { class: "legend" });
    const chart = element("div", { class: "chart", tabindex: "0", role: "group" });
    const status = element("p", { class: "status", role: "status" });
    root.append(controls, sliders, bars, choose, legend, chart, status);

    controls.append(chooser(words.gpu, data.gpus.map(([, name], i) => [i, name]), state.gpu, (value) => {
      state.gpu = Number(value);
      draw();
    }).field);
    choose.append(chooser(words.against, data.axes.map(([name]) => [name, words.axes[name] ?? name]), state.against, (value) => {
      state.against = value;
      draw();
    }).field);
    for (const [name, , values] of data.axes) {
      if (values.length < 2) continue;
      const input = element("input", { type: "range", min: 0, max: values.length - 1, step: 1, value: state.at[name] });
      const output = element("output", {}, valueText(name, state.at[name]));
      input.setAttribute("aria-valuetext", output.textContent);
      input.addEventListener("input", () => {
        state.at[name] = Number(input.value);
        output.textContent = valueText(name, state.at[name]);
        input.setAttribute("aria-valuetext", output.textContent);
        draw();
      });
      sliders.append(element("label", {}, words.axes[name] ?? name, input, output));
    }
    const label = (one) => words.names[one.label] ?? one.label;
    data.executions.forEach((one, i) => {
      const key = drawn("svg", { viewBox: "0 0 36 18", "aria-hidden": "true" },
        drawn("path", { d: "M1 9h34", stroke: COLOURS[i % 7], "stroke-width": 3, "stroke-dasharray": DASHES[i % 7], fill: "none" }));
      legend.append(element("span", {}, key, label(one)));
    });

    function drawBars(times, ideal) {
      const most = Math.max(...times);
      const table = element("table", { class: "bars" });
      table.append(
        element("caption", {}, filled(words.caption, { model: data.model, gpu: data.gpus[state.gpu][1] })),
        element("thead", {}, element("tr", {},
          element("th", { scope: "col", class: "text" }, words.execution),
          element("th", { scope: "col" }, `${words.time} (ms)`),
          element("th", { scope: "col" }, words.utilisation),
          element("td", { class: "bar-cell" }))),
      );
      const body = element("tbody");
      data.executions.forEach((one, i) => {
        const bar = element("span", { class: "bar", "aria-hidden": "true" }, element("i"));
        bar.style.width = `${(100 * times[i]) / most}%`;
        bar.firstChild.style.width = `${(100 * ideal) / times[i]}%`;
        body.append(element("tr", {},
          element("th", { scope: "row" }, label(one)),
          element("td", {}, digits(times[i] * 1e3)),
          element("td", {}, `${Math.round((100 * ideal) / times[i])}%`),
          element("td", { class: "bar-cell" }, bar)));
      });
      table.append(body);
      bars.replaceChildren(table);
    }

    function ticks(most) {
      const rough = most / 5;
      const power = 10 ** Math.floor(Math.log10(rough));
      const step = [1, 2, 5, 10].map((times) => times * power).find((value) => value >= rough);
      const found = [];
      for (let value = 0; value <= most * 1.0001; value += step) found.push(value);
      return found;
    }

    function drawChart() {
      const values = longest(state.against);
      const [left, right, top, bottom, height] = [58, 18, 14, 44, 300];
      const width = Math.max(320, Math.min(760, chart.clientWidth));
      const at = (place) => ({ ...state.at, [state.against]: place });
      const lines = data.executions.map((one) => values.map((_, place) => time(one, state.gpu, at(place))));
      const floor = values.map((_, place) => time(data.ideal, state.gpu, at(place)));
      const most = 1.05e3 * Math.max(...lines.flat());
      const x = (place) => left + ((width - left - right) * place) / Math.max(1, values.length - 1);
      const y = (ms) => height - bottom - ((height - top - bottom) * ms) / most;
      const picture = drawn("svg", { viewBox: `0 0 ${width} ${height}`, role: "group", "aria-label": `${words.against} ${words.axes[state.against] ?? state.against}` });
      for (const tick of ticks(most)) {
        picture.append(
          drawn("path", { class: "grid", d: `M${left} ${y(tick)}H${width - right}` }),
          drawn("text", { x: left - 6, y: y(tick) + 4, "text-anchor": "end" }, digits(tick)),
        );
      }
      values.forEach((_, place) => {
        const anchor = place === 0 ? "start" : place === values.length - 1 ? "end" : "middle";
        picture.append(drawn("text", { x: x(place), y: height - bottom + 18, "text-anchor": values.length > 1 ? anchor : "start" }, valueText(state.against, place)));
      });
      picture.append(
        drawn("path", { class: "axis", d: `M${left} ${top}V${height - bottom}H${width - right}` }),
        drawn("text", { x: left, y: height - 6 }, words.axes[state.against] ?? state.against),
        drawn("text", { transform: `translate(14 ${height - bottom}) rotate(-90)` }, `${words.time} (ms)`),
        drawn("path", { class: "axis", d: floor.map((t, i) => `${i ? "L" : "M"}${x(i)} ${y(1e3 * t)}`).join(""), "stroke-dasharray": "2 2" }),
        drawn("text", { x: width - right, y: y(1e3 * floor[floor.length - 1]) + 14, "text-anchor": "end" }, words.ideal),
      );
      const grid = lines.map((line, i) => {
        const d = line.map((t, place) => `${place ? "L" : "M"}${x(place)} ${y(1e3 * t)}`).join("");
        picture.append(drawn("path", { d, fill: "none", stroke: COLOURS[i % 7], "stroke-width": 2.5, "stroke-dasharray": DASHES[i % 7] }));
        return line.map((t, place) => {
          const text = filled(words.point, { execution: label(data.executions[i]), time: digits(t * 1e3), value: valueText(state.against, place) });
          const spot = drawn("circle", { class: "spot", cx: x(place), cy: y(1e3 * t), r: 5, fill: COLOURS[i % 7], role: "img", "aria-label": text }, drawn("title", {}, text));
          picture.append(spot);
          return spot;
        });
      });
      const enter = roving(grid, (r, c) => { status.textContent = grid[r][c].getAttribute("aria-label"); });
      enter(0, 0, false);
      chart.replaceChildren(picture);
      chart.setAttribute("aria-label", picture.getAttribute("aria-label"));
      status.textContent = "";
    }

    function draw() {
      const times = data.executions.map((one) => time(one, state.gpu, state.at));
      drawBars(times, time(data.ideal, state.gpu, state.at));
      drawChart();
    }

    draw();
    window.addEventListener("resize", drawChart);
  }

  const makers = { tiles: exploreTiles, timeline: exploreTimeline };
  for (const root of document.querySelectorAll(".explorer")) {
    const name = root.dataset.explorer;
    const words = JSON.parse(root.dataset.words);
    const data = window.paperGpu && window.paperGpu[name];
    if (data) {
      root.hidden = false;
      makers[name](root, words, data);
    }
  }
})();
