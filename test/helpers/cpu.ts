/** Milliseconds of processor time that this process has used: what a thing costs, whatever else the machine does. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
