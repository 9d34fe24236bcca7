"use strict";
// Draws the plots and switches the theme. Colours in the figures are names of CSS variables, so that
// the style sheet stays the only palette; what follows an underscore is how opaque one is.
// The figures and plotly.js come compressed: together they are a third as long.
(async () => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  let plots;
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const narrow = matchMedia("screen and (max-width: 44rem)");
  const PRINT_WIDTH = 680;
  const PNG_SCALE = 2;
  const TITLE_HEIGHT = 36;

  const remembered = () => { try { return localStorage.getItem("tameshi-theme"); } catch { return null; } };
  const remember = (theme) => { try { localStorage.setItem("tameshi-theme", theme); } catch { /* file:// may forbid it */ } };

  const resolve = (value, styles) => {
    if (typeof value === "string") {
      const name = /^var\((--[a-z]+\d?)(?:_(\w\w))?\)$/.exec(value);
      return name ? styles.getPropertyValue(name[1]).trim() + (name[2] ?? "") : value;
    }
    if (Array.isArray(value)) return value.map((item) => resolve(item, styles));
    if (value && typeof value === "object") {
      return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, resolve(item, styles)]));
    }
    return value;
  };

  // A phone has all panels of a plot below one another.
  const layoutOf = (plot) => (narrow.matches && plot.narrow) || plot.layout;

  const drawOne = (id, width) => {
    const { data } = plots[id];
    const drawn = resolve({ data, layout: layoutOf(plots[id]) }, getComputedStyle(root));
    if (width) Object.assign(drawn.layout, { width, height: 0.86 * drawn.layout.height, autosize: false });
    const place = document.getElementById(id);
    place.style.minHeight = "";
    Plotly.react(place, drawn.data, drawn.layout, { displayModeBar: false, responsive: !width, showTips: false });
  };

  const isInView = (id) => {
    const { top, bottom } = document.getElementById(id).getBoundingClientRect();
    return top < innerHeight && bottom > 0;
  };

  // Plots in view are drawn at once, the others one at a time, so that the page answers in between.
  let turn = 0;
  const draw = () => {
    if (!plots) return;
    const mine = ++turn;
    delete root.dataset.drawn;
    const waiting = Object.keys(plots);
    for (const id of waiting) document.getElementById(id).style.minHeight ||= `${layoutOf(plots[id]).height}px`;
    for (const id of waiting.filter(isInView)) {
      drawOne(id);
      waiting.splice(waiting.indexOf(id), 1);
    }
    const next = () => {
      if (mine !== turn) return;
      if (waiting.length === 0) {
        root.dataset.drawn = "yes";
        return;
      }
      const [id] = waiting.splice(Math.max(waiting.findIndex(isInView), 0), 1);
      drawOne(id);
      setTimeout(next);
    };
    setTimeout(next);
  };
  const drawForPaper = () => {
    turn += 1;
    for (const id of Object.keys(plots ?? {})) drawOne(id, PRINT_WIDTH);
  };

  const save = (name, address) => {
    const link = Object.assign(document.createElement("a"), { download: name, href: address });
    document.body.append(link);
    link.click();
    link.remove();
  };
  const saveAs = {
    csv: (plot) => {
      const address = URL.createObjectURL(new Blob([plot.csv], { type: "text/csv;charset=utf-8" }));
      save(`${plot.file}.csv`, address);
      setTimeout(() => URL.revokeObjectURL(address), 10000);
    },
    png: async (plot, place) => {
      const { data } = plot;
      const { layout, ...rest } = resolve({ data, layout: layoutOf(plot), paper: "var(--paper)" }, getComputedStyle(root));
      const size = { width: place.clientWidth, height: layout.height + TITLE_HEIGHT };
      Object.assign(layout, {
        ...size,
        paper_bgcolor: rest.paper,
        title: { text: plot.title, x: 0, xref: "paper", xanchor: "left", y: 1, yref: "container", yanchor: "top", pad: { t: 12 } },
        margin: { ...layout.margin, l: 16, t: layout.margin.t + TITLE_HEIGHT },
      });
      const picture = { data: rest.data, layout, config: { displayModeBar: false } };
      save(`${plot.file}.png`, await Plotly.toImage(picture, { ...size, format: "png", scale: PNG_SCALE }));
    },
  };
  for (const choice of document.querySelectorAll("button[data-plot]")) {
    const { plot, form } = choice.dataset;
    choice.addEventListener("click", () => saveAs[form](plots[plot], document.getElementById(plot)));
  }

  const show = (theme) => {
    root.dataset.theme = theme;
    button.textContent = theme === "dark" ? button.dataset.toLight : button.dataset.toDark;
    draw();
  };

  const preferred = () => remembered() || (dark.matches ? "dark" : "light");
  button.hidden = false;
  button.addEventListener("click", () => {
    const theme = root.dataset.theme === "dark" ? "light" : "dark";
    remember(theme);
    show(theme);
  });
  dark.addEventListener("change", () => show(preferred()));
  narrow.addEventListener("change", draw);

  // Paper is light and narrow, and has no closed sections.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const section of closed) section.open = true;
    root.dataset.theme = "light";
    drawForPaper();
  });
  addEventListener("afterprint", () => {
    for (const section of closed) section.open = false;
    show(preferred());
  });

  const unpacked = async (id) => {
    const packed = atob(document.getElementById(id).textContent);
    const bytes = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i += 1) bytes[i] = packed.charCodeAt(i);
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
    return new Response(stream).text();
  };
  show(preferred());
  if (typeof DecompressionStream === "undefined") {
    document.getElementById("no-plots").hidden = false;
    return;
  }
  const [source, figures] = await Promise.all([unpacked("plotly"), unpacked("plot-data")]);
  document.head.append(Object.assign(document.createElement("script"), { textContent: source }));
  plots = JSON.parse(figures);
  for (const saving of document.querySelectorAll(".save")) saving.hidden = false;
  draw();
  performance.mark("ready");
  root.dataset.ready = "yes";
})();
