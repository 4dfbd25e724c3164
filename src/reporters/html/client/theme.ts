import { byId } from './elements.js';

const KEY = 'bosun-report-theme';

/** Dark or light: the system's setting, until the reader picks one. Returns a function that changes it. */
export function themeSwitch(): () => void {
  const button = byId('theme');
  const system = matchMedia('(prefers-color-scheme: dark)');
  let chosen = rememberedTheme();
  const show = () => {
    const dark = chosen === undefined ? system.matches : chosen === 'dark';
    if (chosen) document.documentElement.dataset['theme'] = chosen;
    button.textContent = dark ? 'Light' : 'Dark';
  };
  const change = () => {
    const dark = chosen === undefined ? system.matches : chosen === 'dark';
    chosen = dark ? 'light' : 'dark';
    storeTheme(chosen);
    show();
  };
  system.addEventListener('change', show);
  button.addEventListener('click', change);
  button.hidden = false;
  show();
  return change;
}

/** A page opened from a file may have no storage. */
function rememberedTheme(): 'dark' | 'light' | undefined {
  try {
    const value = localStorage.getItem(KEY);
    return value === 'dark' || value === 'light' ? value : undefined;
  } catch {
    return undefined;
  }
}

function storeTheme(value: string): void {
  try {
    localStorage.setItem(KEY, value);
  } catch {
    // Then it is chosen again next time.
  }
}
