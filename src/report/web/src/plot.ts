// A chart in the page: its drawing, legend, tooltip, zoom and table, for mouse, finger and keyboard.
import { alongAxis, isReadable, place, type Chart, type Layer } from "./chart";
import { h, save, tableOf } from "./dom";
import { init, type ECharts } from "./engine";
import { legendLayers, optionOf, visibleLayers, type Rectangle } from "./option";
import { pictureOf } from "./picture";
import { middleOf, readable, readAt, readSpot, spokenReading, tablesOf, type Reading, type Spot } from "./reading";
import { fontFamily, pagePaint } from "./theme";

const nearPixels = 1.5; // points of other layers so near to the one that is read are read with it
const leastDrag = 8;

export class Plot {
  readonly element: HTMLElement;
  private readonly canvas = h("div", { class: "canvas" });
  private readonly marks = h("div", { class: "marks" });
  private readonly tip = h("div", { class: "tip", hidden: true });
  private readonly area: HTMLElement;
  private readonly reset: HTMLButtonElement;
  private readonly hidden = new Set<string>();
  private engine: ECharts | undefined;
  private frame: Rectangle = { x: 0, y: 0, width: 0, height: 0 };
  private zoom: [number, number] | undefined;
  private focus: Spot | undefined; // what the keyboard reads

  private shown: Chart; // with what was picked

  constructor(
    readonly chart: Chart,
    private readonly speak: (text: string) => void,
  ) {
    this.shown = chart;
    this.area = h(
      "div",
      { class: "plot", tabindex: 0, role: "img", "aria-label": `${chart.title} ${chart.alt}`, "aria-describedby": "chart-help" },
      this.canvas,
      this.marks,
      this.tip,
    );
    this.area.style.height = `${this.height(0)}px`;
    this.reset = h("button", { type: "button", class: "small reset", hidden: true, click: () => this.setZoom(undefined) }, "Reset zoom");
    this.element = h(
      "figure",
      { class: chart.height ? "card chart tall" : "card chart", id: `chart-${chart.id}` },
      h("h3", {}, chart.title),
      h("p", { class: "good" }, chart.good),
      h("div", {}, this.choices(), this.legend()),
      h("div", { class: "stage" }, this.area, this.reset),
      h("figcaption", {}, chart.note),
      h("div", { class: "foot" }, this.numbers(), this.saveButton()),
    );
    this.listen();
  }

  /** Draws the chart if it is not drawn yet. */
  draw(): void {
    if (this.engine) return;
    const width = this.area.clientWidth;
    this.area.style.height = `${this.height(width)}px`;
    this.engine = init(this.canvas, null, { renderer: "svg", width, height: this.height(width) });
    this.update();
    new ResizeObserver(() => this.resize()).observe(this.area);
  }

  private height(width: number): number {
    if (this.chart.height) return this.chart.height;
    return this.chart.square && width ? Math.max(300, Math.min(440, width * 0.85)) : 360;
  }

  private resize(): void {
    const width = this.area.clientWidth;
    if (!this.engine || !width || width === this.engine.getWidth()) return;
    this.area.style.height = `${this.height(width)}px`;
    this.engine.resize({ width, height: this.height(width) });
    this.update();
  }

  private update(): void {
    this.silence();
    const { engine, hidden, zoom } = this;
    if (!engine) return;
    const option = optionOf(this.shown, {
      paint: pagePaint,
      width: engine.getWidth(),
      fontFamily,
      fontSize: 12,
      hidden,
      zoom,
      onFrame: ({ x, y, width, height }) => (this.frame = { x, y, width, height }),
    });
    engine.setOption(option, { notMerge: true });
    engine.getZr().flush(); // now, so that a page that is about to be printed has it
    // On paper the drawing is scaled.
    this.canvas.querySelector("svg")?.setAttribute("viewBox", `0 0 ${engine.getWidth()} ${engine.getHeight()}`);
  }

  private legend(): HTMLElement {
    const entries = legendLayers(this.chart);
    if (entries.length < 2) return h("div");
    return h(
      "div",
      { class: "legend", role: "group", "aria-label": `Layers of: ${this.chart.title}` },
      entries.map((layer) => {
        const swatch = h("span", { class: `swatch ${swatchOf(layer)}`, "aria-hidden": "true" });
        swatch.style.setProperty("--colour", pagePaint(layer.colour));
        const button = h("button", { type: "button", "aria-pressed": "true", title: "Show or hide" }, swatch, layer.name);
        button.addEventListener("click", () => {
          const shown = this.hidden.delete(layer.name);
          if (!shown) this.hidden.add(layer.name);
          button.setAttribute("aria-pressed", String(shown));
          this.update();
        });
        return button;
      }),
    );
  }

  /** What the chart is of, where there is a choice. */
  private choices(): HTMLElement | null {
    const { choices } = this.chart;
    if (!choices || choices.options.length < 2) return null;
    const select = h("select", {}, choices.options.map(({ name }, i) => h("option", { value: i }, name)));
    select.addEventListener("change", () => {
      const { alt, layers } = choices.options[Number(select.value)]!;
      this.shown = { ...this.chart, alt, layers };
      this.area.setAttribute("aria-label", `${this.chart.title} ${alt}`);
      this.element.querySelectorAll("details > .scroll").forEach((table) => table.remove());
      this.element.querySelector("details")?.removeAttribute("open");
      this.zoom = undefined;
      this.reset.hidden = true;
      this.update();
    });
    return h("label", { class: "choice" }, `${choices.label} `, select);
  }

  private saveButton(): HTMLElement {
    const { chart } = this;
    const click = () => save(`${chart.id}.svg`, "image/svg+xml", pictureOf(this.shown));
    return h("button", { type: "button", class: "small", "aria-label": `Save as SVG: ${chart.title}`, click }, "Save as SVG");
  }

  /** The table is made when it is first asked for: a page may have many, with thousands of numbers. */
  private numbers(): HTMLElement {
    const details = h("details", {}, h("summary", {}, "Show the numbers"));
    details.addEventListener("toggle", () => {
      if (details.childElementCount > 1) return;
      const tables = tablesOf(this.shown);
      tables.forEach(({ head, rows }, i) =>
        details.append(tableOf(`Numbers of: ${this.chart.title}${tables.length > 1 ? `, part ${i + 1}` : ""}`, head, rows)),
      );
    });
    return details;
  }

  private setZoom(range: [number, number] | undefined): void {
    this.zoom = range;
    this.reset.hidden = !range;
    this.update();
    if (!range) this.area.focus({ preventScroll: true });
  }

  private get layers(): Layer[] {
    return visibleLayers(this.shown, this.hidden);
  }

  private pixel(at: number, value: number): [number, number] {
    return this.engine!.convertToPixel({ gridIndex: 0 }, place(this.chart, at, value)) as [number, number];
  }

  private pixelAlong(at: number): number {
    const finder = this.chart.along === "y" ? { yAxisIndex: 0 } : { xAxisIndex: 0 };
    return this.engine!.convertToPixel(finder, at);
  }

  private inRange(at: number): boolean {
    return !this.zoom || (at >= this.zoom[0] && at <= this.zoom[1]);
  }

  /** The point of a layer that is nearest to a pixel: on the screen, or along the axis only. */
  private nearest(x: number, y: number): Spot | undefined {
    let best: Spot | undefined;
    let least = Infinity;
    const along = this.chart.along === "y" ? y : x;
    for (const layer of readable(this.layers))
      layer.at.forEach((at, index) => {
        const middle = middleOf(layer, index);
        if (middle == null || !Number.isFinite(at) || !this.inRange(at)) return;
        let distance: number;
        if (this.chart.read === "nearest") {
          const [px, py] = this.pixel(at, middle);
          distance = Math.hypot(px - x, py - y);
        } else {
          distance = Math.abs(this.pixelAlong(at) - along);
        }
        if (distance < least) [best, least] = [{ layer, index }, distance];
      });
    return best;
  }

  private read(spot: Spot): Reading {
    if (this.chart.read === "nearest") return readSpot(this.shown, spot);
    const at = spot.layer.at[spot.index]!;
    const here = this.pixelAlong(at);
    return readAt(this.shown, this.layers, at, (other) => Math.abs(this.pixelAlong(other) - here) <= nearPixels);
  }

  private show(spot: Spot): Reading {
    const reading = this.read(spot);
    this.marks.replaceChildren(
      ...reading.rows.flatMap(({ layer, point }) => {
        if (!point) return [];
        const [x, y] = this.engine!.convertToPixel({ gridIndex: 0 }, point);
        const mark = h("span", { class: "mark" });
        mark.style.cssText = `left:${x}px;top:${y}px;background:${pagePaint(layer.colour)}`;
        return [mark];
      }),
    );
    this.tip.replaceChildren(
      h("p", { class: "tip-head" }, reading.heading),
      h(
        "dl",
        {},
        reading.rows.flatMap(({ layer, label, value, details }) => {
          const swatch = h("span", { class: `swatch ${swatchOf(layer)}` });
          swatch.style.setProperty("--colour", pagePaint(layer.colour));
          return [
            h("dt", {}, swatch, label),
            h("dd", {}, value),
            ...details.flatMap(([name, text]) => [h("dt", { class: "detail" }, name), h("dd", { class: "detail" }, text)]),
          ];
        }),
      ),
    );
    this.tip.hidden = false;
    const at = spot.layer.at[spot.index]!;
    const [x, y] = this.pixel(at, middleOf(spot.layer, spot.index) ?? 0);
    this.placeTip(x, y);
    return reading;
  }

  /** Beside the point where there is room, else above or below it, so that it stays visible. */
  private placeTip(x: number, y: number): void {
    const { offsetWidth: width, offsetHeight: height } = this.tip;
    const gap = 14;
    const across = this.area.clientWidth - width;
    const down = this.area.clientHeight - height;
    const within = (value: number, most: number) => Math.max(0, Math.min(most, value));
    let [left, top] = [x + gap, within(y - height / 2, down)];
    if (left > across) left = x - gap - width;
    if (left < 0) [left, top] = [within(x - width / 2, across), y < this.area.clientHeight / 2 ? y + gap : y - gap - height];
    this.tip.style.left = `${left}px`;
    this.tip.style.top = `${top}px`;
  }

  private showNearest(x: number, y: number): void {
    const spot = this.nearest(x, y);
    if (spot) this.show(spot);
  }

  private silence(): void {
    this.tip.hidden = true;
    this.marks.replaceChildren();
    this.focus = undefined;
  }

  private listen(): void {
    const { area } = this;
    let dragFrom: number | undefined;
    const shade = h("div", { class: "shade", hidden: true });
    area.append(shade);
    const position = (event: PointerEvent | MouseEvent): [number, number] => {
      const box = area.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    const within = (x: number) => Math.max(this.frame.x, Math.min(this.frame.x + this.frame.width, x));

    area.addEventListener("pointermove", (event) => {
      if (!this.engine) return;
      const [x, y] = position(event);
      if (dragFrom !== undefined) {
        const [left, right] = [dragFrom, within(x)].sort((a, b) => a - b) as [number, number];
        shade.hidden = right - left < leastDrag;
        shade.style.cssText = `left:${left}px;width:${right - left}px;top:${this.frame.y}px;height:${this.frame.height}px`;
        if (!shade.hidden) this.silence();
        return;
      }
      this.showNearest(x, y);
    });
    // A finger has left as soon as it has tapped.
    area.addEventListener("pointerleave", (event) => event.pointerType !== "touch" && this.silence());
    area.addEventListener("pointerdown", (event) => {
      if (!this.engine || event.button !== 0) return;
      const [x, y] = position(event);
      if (event.pointerType === "touch") return this.showNearest(x, y); // fingers scroll the page, they do not zoom
      if (alongAxis(this.chart) !== this.chart.x) return; // categories have no range
      const { frame } = this;
      if (x < frame.x || x > frame.x + frame.width || y < frame.y || y > frame.y + frame.height) return;
      dragFrom = x;
      area.setPointerCapture(event.pointerId);
    });
    const release = (event: PointerEvent) => {
      if (dragFrom === undefined) return;
      const [left, right] = [dragFrom, within(position(event)[0])].sort((a, b) => a - b) as [number, number];
      dragFrom = undefined;
      shade.hidden = true;
      if (event.type !== "pointerup" || right - left < leastDrag) return;
      const value = (x: number) => this.engine!.convertFromPixel({ xAxisIndex: 0 }, x);
      this.setZoom([value(left), value(right)]);
    };
    area.addEventListener("pointerup", release);
    area.addEventListener("pointercancel", release);
    area.addEventListener("dblclick", () => this.zoom && this.setZoom(undefined));
    area.addEventListener("keydown", (event) => this.key(event));
    area.addEventListener("blur", () => this.silence());
  }

  private key(event: KeyboardEvent): void {
    if (event.key === "Escape") {
      if (this.tip.hidden && this.zoom) this.setZoom(undefined);
      return this.silence();
    }
    const upright = this.chart.along !== "y";
    const steps: Record<string, [number, number]> = {
      ArrowRight: upright ? [1, 0] : [0, 1],
      ArrowLeft: upright ? [-1, 0] : [0, -1],
      ArrowDown: upright ? [0, 1] : [1, 0],
      ArrowUp: upright ? [0, -1] : [-1, 0],
      Home: [-Infinity, 0],
      End: [Infinity, 0],
    };
    const step = steps[event.key];
    if (!step || !this.engine || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const next = this.step(...step);
    if (!next) return;
    const reading = this.show(next);
    this.focus = next;
    this.speak(spokenReading(reading));
  }

  /** The next point along the axis, or on the next layer; from nothing, the first. */
  private step(along: number, layers: number): Spot | undefined {
    const alike = this.chart.read === "nearest" ? readable(this.layers) : [];
    const choice = this.focus ? alike.indexOf(this.focus.layer) : 0;
    const layer = alike[(choice + layers + alike.length) % (alike.length || 1)];
    const spots = (layer ? [layer] : this.layers.filter(isReadable))
      .flatMap((owner) => owner.at.map((at, index) => ({ layer: owner, index, at })))
      .filter(({ at, layer: owner, index }) => Number.isFinite(at) && this.inRange(at) && middleOf(owner, index) != null)
      .sort((a, b) => a.at - b.at)
      // Where all layers are read together a place counts once.
      .filter(({ at }, i, all) => layer || i === 0 || at !== all[i - 1]!.at);
    if (!spots.length) return undefined;
    const last = spots.length - 1;
    if (!this.focus) return spots[along === Infinity ? last : 0];
    const now = this.focus.layer.at[this.focus.index]!;
    let current = spots.findIndex((spot) => spot.layer === this.focus!.layer && spot.index === this.focus!.index);
    if (current < 0) current = spots.reduce((best, spot, i) => (Math.abs(spot.at - now) < Math.abs(spots[best]!.at - now) ? i : best), 0);
    return spots[Math.max(0, Math.min(last, current + along))];
  }
}

function swatchOf(layer: Layer): string {
  switch (layer.kind) {
    case "line":
      return layer.dash ? "dash" : (layer.width ?? 2) < 1 ? "thin" : "line";
    case "reference":
      return "dash";
    case "points":
      return layer.symbol === "tick" ? "tick" : layer.ring ? "ring" : `dot ${layer.symbol ?? "circle"}`;
    case "interval":
      if ((layer.width ?? 1) > 4) return (layer.opacity ?? 1) < 0.3 ? "pale" : "fill";
      return (layer.width ?? 1) > 2 ? "line" : "thin";
    default:
      return "value" in layer ? "full" : (layer.opacity ?? 0.2) < 0.25 ? "pale" : "fill";
  }
}
