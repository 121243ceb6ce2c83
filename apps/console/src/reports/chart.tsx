import { useEffect, useRef } from "react";
import uPlot from "uplot";
import { keepDrawn } from "../rollout/drawn.ts";
import { colourOf } from "../rollout/plot.tsx";
import plot from "../rollout/rollout.module.css";
import type { Month, Series } from "./reports.state.ts";
import { secondsOf } from "./reports.state.ts";

interface ChartProps<Row> {
  readonly label: string;
  readonly rows: readonly Row[];
  readonly series: readonly Series<Row>[];
  readonly format: (value: number) => string;
}

const height = 220;
const axisWidth = 70;

/** Steps of the axis: whole numbers, since nothing is counted in parts. */
const steps = Array.from({ length: 16 }, (_, digits) => [1, 2, 5].map((step) => step * 10 ** digits)).flat();

function draw<Row extends Month>(box: HTMLElement, { rows, series, format }: ChartProps<Row>): uPlot {
  const line = colourOf(box, "--line");
  const font = `12px ${getComputedStyle(box).fontFamily}`;
  const axis = { font, stroke: colourOf(box, "--muted"), grid: { stroke: line, width: 1 }, ticks: { stroke: line, width: 1 } };
  const lines = series.map(({ label, colour }) => ({ label, stroke: colourOf(box, colour), width: 2, points: { show: rows.length < 25 } }));
  const values = { ...axis, size: axisWidth, incrs: steps, values: (_: uPlot, ticks: number[]) => ticks.map(format) };
  const columns = series.map(({ value }) => rows.map((row) => value(row) ?? null));
  const options: uPlot.Options = {
    width: box.clientWidth,
    height,
    // Months begin at midnight UTC; the reader's own zone would show the month before.
    tzDate: (seconds) => uPlot.tzDate(new Date(seconds * 1000), "Etc/UTC"),
    axes: [axis, values],
    series: [{}, ...lines],
    scales: { y: { range: (_, __, most) => [0, Math.max(1, most * 1.1)] } },
    legend: { live: false },
  };
  return new uPlot(options, [rows.map(({ month }) => secondsOf(month)), ...columns], box);
}

/** Values by month. */
export function Chart<Row extends Month>(props: ChartProps<Row>) {
  const box = useRef<HTMLDivElement>(null);
  const { rows, series, format, label } = props;
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    return keepDrawn(element, height, (into) => draw(into, { rows, series, format, label }));
  }, [rows, series, format, label]);
  return <div ref={box} className={plot["plot"]} role="img" aria-label={label} />;
}
