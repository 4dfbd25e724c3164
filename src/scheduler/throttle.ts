/** Gathers text and passes it on at most once per interval: at once, then in bundles. */
export function throttle(intervalMs: number, pass: (text: string) => void) {
  let gathered = '';
  let timer: NodeJS.Timeout | undefined;

  function flush(): void {
    timer = undefined;
    if (!gathered) return;
    const text = gathered;
    gathered = '';
    timer = setTimeout(flush, intervalMs).unref();
    pass(text);
  }

  return {
    push(text: string): void {
      gathered += text;
      if (!timer) flush();
    },
    end(): void {
      flush();
      clearTimeout(timer);
    },
  };
}
