// SPDX-License-Identifier: Apache-2.0
// Light, dark, or what the system says.

const NEXT = { system: "light", light: "dark", dark: "system" };

export function startTheme(button, changed) {
  const query = matchMedia("(prefers-color-scheme: dark)");
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme === "system" ? (query.matches ? "dark" : "light") : theme;
    button.title = `Theme: ${theme}`;
    button.setAttribute("aria-label", button.title);
    button.dataset.theme = theme;
    changed();
  };
  let stored = null;
  try {
    stored = localStorage.getItem("theme");
  } catch {
    // Storage is forbidden: the system decides.
  }
  apply(stored in NEXT ? stored : "system");
  button.addEventListener("click", () => {
    const theme = NEXT[button.dataset.theme];
    try {
      localStorage.setItem("theme", theme);
    } catch {
      // It holds for this page then.
    }
    apply(theme);
  });
  query.addEventListener("change", () => apply(button.dataset.theme));
}

export function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
