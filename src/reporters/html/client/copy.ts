/** Buttons that copy the text of another element. Where the browser forbids that, the text is selected instead. */
export function listenToCopy(): void {
  for (const button of document.querySelectorAll<HTMLButtonElement>('button.copy')) {
    const source = document.getElementById(button.dataset['copies'] ?? '');
    if (!source) continue;
    button.hidden = false;
    button.addEventListener('click', () => void copyText(source, button));
  }
}

async function copyText(source: HTMLElement, button: HTMLButtonElement): Promise<void> {
  try {
    await navigator.clipboard.writeText(source.textContent ?? '');
    button.textContent = 'Copied';
  } catch {
    getSelection()?.selectAllChildren(source);
    button.textContent = 'Selected: press Ctrl+C';
  }
}
