// Every colour of the page and of its charts, light and dark. A chart names a role, never a colour, so that the same thing has
// the same colour everywhere. On the screen a role is a CSS variable: switching to dark, or printing, redraws nothing.

// Forecasts take these in turn: the hues of Okabe and Ito, which colour-blind readers can tell apart, darkened or lightened
// until each has a contrast of at least 3 to its background.
const forecasts = {
  light: ["#0072b2", "#d55e00", "#00805e", "#b8568f", "#a97400"],
  dark: ["#5cb3ee", "#ff9050", "#35cda0", "#eba3cd", "#f0b73c"],
};

const common = {
  light: {
    page: "#f5f6f8",
    card: "#ffffff",
    ink: "#1b2430",
    soft: "#55606e",
    line: "#dde1e7",
    accent: "#005a8f",
    observed: "#1b2430",
    ideal: "#7c8794",
    band: "#8d98a5",
  },
  dark: {
    page: "#12161c",
    card: "#1b2129",
    ink: "#e9edf2",
    soft: "#a9b4c1",
    line: "#343d49",
    accent: "#7cc4f5",
    observed: "#f2f5f8",
    ideal: "#8894a2",
    band: "#8c99a8",
  },
};

export type Theme = keyof typeof common;
export type Role = keyof (typeof common)["light"] | `forecast-${number}`;
export type Paint = (role: Role) => string;

const count = forecasts.light.length;

export const forecastRole = (index: number): Role => `forecast-${index % count}`;

/** Forecasts beyond the number of colours come round to the same colour with another dash and symbol. */
export const round = (index: number): number => Math.floor(index / count);

const palette = (theme: Theme): Record<string, string> => ({
  ...common[theme],
  ...Object.fromEntries(forecasts[theme].map((colour, i) => [`forecast-${i}`, colour])),
});

// What the reader's system has; text is measured with it, so charts need its name.
export const fontFamily =
  'system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif';

/** Colours as they are, for files that leave the page. */
export const fixedPaint = (theme: Theme): Paint => {
  const colours = palette(theme);
  return (role) => colours[role] ?? "currentColor";
};

/** Colours as CSS variables, for charts inside the page. */
export const pagePaint: Paint = (role) => `var(--${role})`;

/** The style sheet that defines these variables. */
export const themeCss = (): string => {
  const variables = (theme: Theme) =>
    Object.entries(palette(theme))
      .map(([role, colour]) => `--${role}:${colour}`)
      .join(";");
  return `
:root{color-scheme:light;--font:${fontFamily};${variables("light")}}
@media screen{
:root[data-theme=dark]{color-scheme:dark;${variables("dark")}}
}
@media screen and (prefers-color-scheme:dark){
:root:not([data-theme=light]){color-scheme:dark;${variables("dark")}}
}`;
};
