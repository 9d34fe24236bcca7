"use strict";
// Draws the plots and switches the theme. Colours in the figures are names of CSS variables, so that
// the style sheet stays the only palette; what follows an underscore is how opaque one is.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const plots = JSON.parse(document.getElementById("plot-data").textContent);
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const PRINT_WIDTH = 680;

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

  const draw = (width) => {
    const styles = getComputedStyle(root);
    for (const [id, plot] of Object.entries(plots)) {
      const { data, layout } = resolve(plot, styles);
      if (width) Object.assign(layout, { width, height: 0.86 * layout.height, autosize: false });
      Plotly.react(id, data, layout, { displayModeBar: false, responsive: !width, showTips: false });
    }
  };

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

  // Paper is light and narrow, and has no closed sections.
  let closed = [];
  addEventListener("beforeprint", () => {
    closed = [...document.querySelectorAll("details:not([open])")];
    for (const section of closed) section.open = true;
    root.dataset.theme = "light";
    draw(PRINT_WIDTH);
  });
  addEventListener("afterprint", () => {
    for (const section of closed) section.open = false;
    show(preferred());
  });

  show(preferred());
  root.dataset.ready = "yes";
})();
