import { useEffect, useRef } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { buckets, rollout as t } from "../text/en.ts";
import type { Totals } from "../ui/signs.ts";
import { keepDrawn } from "./drawn.ts";
import style from "./rollout.module.css";
import { axisOf } from "./rollout.state.ts";

interface PlotProps {
  readonly points: readonly { readonly at: number; readonly totalTargetsPerStatus: Totals }[];
}

const height = 240;
const series = [
  { bucket: "finished", colour: "--fill-ok" },
  { bucket: "error", colour: "--fill-bad" },
  { bucket: "running", colour: "--fill-run" },
] as const;

/** The colours of a canvas are fixed when it is drawn; a probe resolves those of the present theme. */
export function colourOf(box: HTMLElement, name: string): string {
  const probe = document.createElement("span");
  probe.style.color = `var(${name})`;
  box.append(probe);
  const colour = getComputedStyle(probe).color;
  probe.remove();
  return colour;
}

function draw(box: HTMLElement, points: PlotProps["points"]): uPlot {
  const line = colourOf(box, "--line");
  const font = `12px ${getComputedStyle(box).fontFamily}`;
  const axis = { font, stroke: colourOf(box, "--muted"), grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const lines = series.map(({ bucket, colour }) => {
    const stroke = colourOf(box, colour);
    return { label: buckets[bucket], stroke, width: 2, points: { show: points.length < 3 }, paths: uPlot.paths.stepped?.({ align: 1 }) };
  });
  const columns = series.map(({ bucket }) => points.map(({ totalTargetsPerStatus }) => totalTargetsPerStatus[bucket]));
  const [from, to] = axisOf(points);
  // Without a range a single point stands in the middle of years.
  const scales = { x: { range: (): [number, number] => [from / 1000, to / 1000] } };
  const options = { width: box.clientWidth, height, scales, axes: [axis, axis], series: [{}, ...lines], legend: { live: false } };
  return new uPlot(options as uPlot.Options, [points.map(({ at }) => at / 1000), ...columns], box);
}

/** The counts of a rollout over time. The table beside it says the same. */
export function Plot({ points }: PlotProps) {
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    return keepDrawn(element, height, (into) => draw(into, points));
  }, [points]);
  return <div ref={box} className={style["plot"]} role="img" aria-label={t.plotLabel} />;
}
