import { runCli, serverEnv, type CliOptions, type CliResult, type Scratch } from './run-cli.js';

type Where = { readonly url: string };

export function resumeIn(
  server: Where,
  place: Scratch,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<CliResult> {
  return runCli(['resume', place.transcript, ...args], {
    ...options,
    env: serverEnv(server, place, options.env),
  });
}

export function approveIn(
  place: Scratch,
  args: readonly string[] = [],
  options: CliOptions = {},
): Promise<CliResult> {
  return runCli(['approve', place.transcript, ...args], options);
}
