// SPDX-License-Identifier: Apache-2.0
// The flight from above: metres north and east of home, drawn here. No map, so nothing is asked of anybody.

import { absent } from "./senses.js";
import { duration, number } from "./format.js";
import { el, svg } from "./dom.js";

const NORTH = 8, EAST = 9, HEIGHT = 10; // of a point; see SERIES in history.py
const SIZE = 360, MARGIN = 26;
const LEAST_M = 20; // to both sides of home: a drone that stands still has not flown its GPS' noise
const AT_HOME_M = 2; // nearer than this a bearing is noise
const STEPS = [5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10000, 20000, 50000, 100000];
const LINES = 4; // of the grid, at most to each side

const known = (point) => point[NORTH] !== null && point[EAST] !== null;

export function drawPlan(root, points, why) {
  const seen = points.filter(known);
  if (!seen.length) return root.replaceChildren(absent(why || "The autopilot has not said where it is."));
  const reach = Math.max(LEAST_M, ...seen.flatMap((p) => [Math.abs(p[NORTH]), Math.abs(p[EAST])]));
  const scale = (SIZE / 2 - MARGIN) / reach;
  const x = (east) => SIZE / 2 + east * scale, y = (north) => SIZE / 2 - north * scale;
  const last = seen.at(-1);
  const words = describe(last, points.at(-1)[0] - last[0]);
  root.replaceChildren(
    el("p", { class: "figure where" }, words),
    svg("svg", { viewBox: `0 0 ${SIZE} ${SIZE}`, class: "plan", role: "img", "aria-label": `Plan of the flight: ${words}` },
      grid(reach, x, y),
      svg("path", { class: "track", d: path(points, x, y) }),
      svg("g", { class: "home" }, svg("circle", { cx: x(0), cy: y(0), r: 8 }), svg("text", { x: x(0), y: y(0) + 4, "text-anchor": "middle" }, "H")),
      craft(seen, points.at(-1) === last, x, y)),
  );
}

/** Every stretch of known places; a gap ends one. */
function path(points, x, y) {
  let d = "", pen = false;
  for (const point of points) {
    if (known(point)) d += `${pen ? "L" : "M"}${x(point[EAST]).toFixed(1)} ${y(point[NORTH]).toFixed(1)}`;
    pen = known(point);
  }
  return d;
}

function grid(reach, x, y) {
  const step = STEPS.find((each) => reach / each <= LINES) || STEPS.at(-1);
  const lines = [];
  for (let m = -Math.floor(reach / step) * step; m <= reach; m += step) {
    lines.push(svg("line", { x1: x(m), x2: x(m), y1: MARGIN, y2: SIZE - MARGIN }), svg("line", { y1: y(m), y2: y(m), x1: MARGIN, x2: SIZE - MARGIN }));
  }
  return svg("g", { class: "grid" }, lines,
    svg("text", { x: SIZE / 2, y: 16, "text-anchor": "middle" }, "N"),
    svg("path", { class: "measure", d: `M${MARGIN} ${SIZE - 8}h${(x(step) - x(0)).toFixed(1)}` }),
    svg("text", { x: MARGIN, y: SIZE - 13 }, number(step, 0, "m")));
}

/** A triangle that points to where it went last; hollow where its place is not known any more. */
function craft(seen, now, x, y) {
  const last = seen.at(-1);
  const before = seen.findLast((p) => Math.hypot(p[NORTH] - last[NORTH], p[EAST] - last[EAST]) > 1) || last;
  const course = (Math.atan2(last[EAST] - before[EAST], last[NORTH] - before[NORTH]) * 180) / Math.PI;
  return svg("path", { class: now ? "craft" : "craft old", d: "M0 -9L6 7L0 4L-6 7Z", transform: `translate(${x(last[EAST]).toFixed(1)} ${y(last[NORTH]).toFixed(1)}) rotate(${course.toFixed(0)})` });
}

function describe(point, age_s) {
  const distance = Math.hypot(point[NORTH], point[EAST]);
  const bearing = (Math.round((Math.atan2(point[EAST], point[NORTH]) * 180) / Math.PI) + 360) % 360;
  const height = point[HEIGHT] === null ? "" : `, ${number(point[HEIGHT], 0, "m")} high`;
  const old = age_s > 0 ? `; ${duration(age_s)} ago` : "";
  const place = distance < AT_HOME_M ? "at home" : `${number(distance, 0, "m")} from home, bearing ${String(bearing).padStart(3, "0")}°`;
  return `${place}${height}${old}`;
}
