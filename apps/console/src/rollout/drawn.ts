import type uPlot from "uplot";

/** Calls whenever the theme changes: the person's choice in this browser, or what the system says. Answers what ends that. */
function onTheme(call: () => void): () => void {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = new MutationObserver(call);
  chosen.observe(document.documentElement, { attributeFilter: ["data-theme"] });
  system.addEventListener("change", call);
  return () => {
    chosen.disconnect();
    system.removeEventListener("change", call);
  };
}

/** Keeps a drawing in a box: it is as wide as the box, and drawn anew when the theme changes, since the colours of a canvas stay. Answers what ends it. */
export function keepDrawn(box: HTMLElement, height: number, draw: (box: HTMLElement) => uPlot): () => void {
  let plot = draw(box);
  const resize = new ResizeObserver(() => plot.setSize({ width: box.clientWidth, height }));
  resize.observe(box);
  const endTheme = onTheme(() => {
    plot.destroy();
    plot = draw(box);
  });
  return () => {
    endTheme();
    resize.disconnect();
    plot.destroy();
  };
}
