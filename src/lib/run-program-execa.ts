/** The one function of execa that starts processes. A file of its own, so that the bundle has that and no more. */
export { execa } from 'execa';
