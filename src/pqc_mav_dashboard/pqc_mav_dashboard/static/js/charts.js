// SPDX-License-Identifier: Apache-2.0
// Lines over time, by uPlot (a plain script of index.html). A figure that is not known leaves a gap.
/* global uPlot */

import { bits, milliseconds, percent } from "./format.js";
import { moment as instant } from "./csv.js";
import { el } from "./dom.js";
import { colour } from "./theme.js";

const HEIGHT = 170;
// Index in a point, its name, its colour, its dash; `least` is the smallest range of the axis: noise is no mountain.
const CHARTS = [
  { title: "Rates", least: 1000, write: bits, series: [[1, "sent", "--line-1"], [2, "received", "--line-2", [6, 3]]] },
  { title: "Round trip", least: 0.5, write: milliseconds, series: [[5, "RTT", "--line-1"]] },
  { title: "Loss", least: 0.05, write: (v) => percent(v), series: [[3, "to here", "--line-1"], [4, "to the other end", "--line-2", [6, 3]]] },
  { title: "Gaps between packets", least: 100, write: milliseconds, series: [[6, "95 % are below", "--line-1"]] },
];
// Names of a point's figures, as the server told at the beginning.
let SERIES = [];
export function learnSeries(names) {
  SERIES = names;
}
/** One point alone is no line: it is drawn as a dot. */
const few = (_plot, _series, first, last) => last - first < 2;
const SECONDS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 14400, 21600];
const two = (n) => String(n).padStart(2, "0");
const moment = (seconds) => {
  const at = new Date(seconds * 1000);
  return `${two(at.getHours())}:${two(at.getMinutes())}:${two(at.getSeconds())}`;
};

export class Charts {
  constructor(root) {
    this.points = [];
    this.shown_s = 600;
    this.root = root;
    this.plots = [];
    this.observer = new ResizeObserver(() => this.resize());
    this.boxes = CHARTS.map((chart) => {
      const box = el("div", { class: "plot" });
      const figure = el("figure", { class: "chart" },
        el("figcaption", {}, chart.title, el("span", { class: "now" })), box);
      root.append(figure);
      return { figure, box, now: figure.querySelector(".now") };
    });
    this.build();
    this.observer.observe(root);
  }

  close() {
    this.observer.disconnect();
    this.plots.forEach((plot) => plot.destroy());
  }

  build() {
    this.plots.forEach((plot) => plot.destroy());
    const text = colour("--muted"), grid = colour("--line");
    this.plots = CHARTS.map((chart, i) => {
      const axis = { stroke: text, grid: { stroke: grid, width: 1 }, ticks: { stroke: grid, width: 1 }, font: "12px system-ui, sans-serif" };
      const options = {
        width: this.width(i), height: HEIGHT, legend: { show: false }, padding: [8, 26, 0, 0], cursor: { drag: { x: false, y: false } },
        scales: { x: { time: true }, y: { range: (_u, _min, max) => [0, Math.max(chart.least, (max || 0) * 1.1)] } },
        axes: [{ ...axis, space: 80, incrs: SECONDS, values: (_u, ticks) => ticks.map(moment) }, { ...axis, size: 82, values: (_u, ticks) => ticks.map((tick) => chart.write(tick)) }],
        series: [{}, ...chart.series.map(([, label, name, dash]) => ({ label, stroke: colour(name), width: 1.75, dash, points: { show: few, size: 5 } }))],
      };
      const plot = new uPlot(options, this.data(chart), this.boxes[i].box);
      plot.root.setAttribute("aria-hidden", "true");
      return plot;
    });
  }

  width(i) {
    return Math.max(200, this.boxes[i].box.clientWidth);
  }

  resize() {
    this.plots.forEach((plot, i) => {
      const width = this.width(i);
      if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
    });
  }

  data(chart) {
    return [this.points.map((p) => p[0]), ...chart.series.map(([index]) => this.points.map((p) => p[index]))];
  }

  /** Every point that is shown, as the server has it; SERIES names its figures. */
  csv() {
    return [SERIES, this.points.map(([time, ...figures]) => [instant(time), ...figures])];
  }

  take(points, whole) {
    if (whole) this.points = points.slice();
    else for (const point of points) if (!this.points.length || point[0] > this.points.at(-1)[0]) this.points.push(point);
    const newest = this.points.at(-1);
    while (this.points.length && this.points[0][0] < newest[0] - this.shown_s) this.points.shift();
    CHARTS.forEach((chart, i) => {
      this.plots[i].setData(this.data(chart));
      const said = chart.series.map(([index, label, name]) => [label, newest ? chart.write(newest[index]) : "", name]);
      const parts = said.map(([label, value], n) => el("span", { class: `key k${n + 1}` }, `${label} `, el("b", { class: "figure" }, value)));
      this.boxes[i].now.replaceChildren(...parts);
    });
  }
}
