// Elements from code. Text is always text: nothing from the data is ever parsed as HTML.

type Child = Node | string | false | null | undefined;
type Attributes = Record<string, string | number | boolean | ((event: Event) => void) | undefined>;

export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: (Child | Child[])[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(name, value);
    else element.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) if (child) element.append(child);
  return element;
}

/** Text whose names of options (--fold-group) are never broken across lines. */
export const words = (text: string): Child[] =>
  text.split(/(?<![\w-])(--[a-z][a-z0-9-]{0,40})/).map((part, i) => (i % 2 ? h("span", { class: "option" }, part) : part));

/** Offers text as a file. */
export function save(name: string, type: string, text: string): void {
  const link = h("a", { href: URL.createObjectURL(new Blob([text], { type })), download: name });
  link.click();
  // The browser may fetch it after this event.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

/** A table that scrolls inside its own frame where it is too wide; the first column heads the rows. */
export function tableOf(caption: string, head: string[], rows: Child[][]): HTMLElement {
  return h(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": caption },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map((text) => (text ? h("th", { scope: "col" }, text) : h("td"))))),
      h(
        "tbody",
        {},
        rows.map((row) => h("tr", {}, row.map((cell, i) => (i === 0 ? h("th", { scope: "row" }, cell) : h("td", {}, cell))))),
      ),
    ),
  );
}
