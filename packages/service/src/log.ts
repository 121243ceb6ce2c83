import { type DestinationStream, type Logger, destination as openDestination, pino } from "pino";

export type Log = Logger;

export interface LogOptions {
  service: string;
  level?: string;
  /** Default: stdout, written in the background. */
  destination?: DestinationStream;
}

const secretMembers = ["authorization", "cookie", "password", "secret", "token", "securityToken", "credential", "x-harrier-identity"];

/** JSON lines on stdout; credentials are replaced wherever an object with headers or a body is logged. */
export function createLog(options: LogOptions): Log {
  return pino(
    {
      level: options.level ?? "info",
      base: { service: options.service },
      formatters: { level: (label) => ({ level: label }) },
      redact: {
        paths: secretMembers.flatMap((name) => [quoted(name), `*${quotedMember(name)}`, `*.*${quotedMember(name)}`]),
        censor: "***",
      },
    },
    options.destination ?? openDestination({ dest: 1, sync: false }),
  );
}

const plain = /^\w+$/;

function quoted(name: string): string {
  return plain.test(name) ? name : `["${name}"]`;
}

function quotedMember(name: string): string {
  return plain.test(name) ? `.${name}` : `["${name}"]`;
}
