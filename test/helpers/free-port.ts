import { createServer } from 'node:net';

/**
 * A port for a server that has to be told one. It lies below those that the system gives to others, who might get it between
 * our closing it and the server's opening it.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 12_000 + Math.floor(Math.random() * 20_000);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer().listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    server.once('error', () => resolve(false));
  });
}
