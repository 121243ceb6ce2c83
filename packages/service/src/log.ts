import { type DestinationStream, type Logger, destination as openDestination, pino, stdSerializers } from "pino";

export type Log = Logger;

export interface LogOptions {
  service: string;
  level?: string;
  /** The default is stdout, written in the background. */
  destination?: DestinationStream;
}

const secretMembers = [
  "authorization",
  "cookie",
  "password",
  "secret",
  "token",
  "securityToken",
  "credential",
  "x-harrier-identity",
  "x-harrier-on-behalf",
];

/** At most so many bytes wait to be written; more lines are dropped. */
const maxBytesWaiting = 8 * 1024 * 1024;

/** Writes JSON lines to stdout; credentials are replaced wherever an object with headers or a body is logged. */
export function createLog(options: LogOptions): Log {
  const log = pino(
    {
      level: options.level ?? "info",
      base: { service: options.service },
      formatters: { level: (label) => ({ level: label }) },
      serializers: { err: boundedError },
      redact: {
        paths: secretMembers.flatMap((name) => [quoted(name), `*${quotedMember(name)}`, `*.*${quotedMember(name)}`]),
        censor: "***",
      },
    },
    options.destination ?? openStdout((lines) => log.warn({ lines }, "lines were dropped: the log could not be written")),
  );
  return log;
}

/** One line shows at most this of an error, because errors of libraries may contain their input, even a request's whole body. */
const maxOfError = { textLength: 4_096, members: 40, depth: 4, length: 16_384 };

/** Makes an error in pino's form, cut to `maxOfError`. */
function boundedError(error: unknown): unknown {
  let left = maxOfError.length;
  const cut = (value: unknown, depth: number): unknown => {
    if (typeof value === "string") {
      const text = value.slice(0, Math.min(maxOfError.textLength, Math.max(0, left)));
      left -= text.length;
      return text.length === value.length ? value : `${text}…`;
    }
    if (typeof value !== "object" || value === null) return value;
    if (depth === 0 || left <= 0 || ArrayBuffer.isView(value)) return undefined;
    if (Array.isArray(value)) return value.slice(0, maxOfError.members).map((member) => cut(member, depth - 1));
    const members = firstMembers(value).map(([name, member]) => [name.slice(0, maxOfError.textLength), cut(member, depth - 1)]);
    return Object.fromEntries(members);
  };
  return cut(error instanceof Error ? stdSerializers.err(error) : error, maxOfError.depth);
}

function firstMembers(value: object): [string, unknown][] {
  const members: [string, unknown][] = [];
  for (const name in value) {
    if (members.length === maxOfError.members) break;
    members.push([name, (value as Record<string, unknown>)[name]]);
  }
  return members;
}

/** Writes in the background. A full disk costs lines, never the process; their number is logged once there is room again. */
function openStdout(onDropped: (lines: number) => void): DestinationStream {
  // minLength: with the default of 0 a flush does nothing
  const stdout = openDestination({ dest: 1, sync: false, minLength: 1, maxLength: maxBytesWaiting });
  let dropped = 0;
  stdout.on("error", () => undefined); // what waits is written again with the next line
  stdout.on("drop", () => {
    dropped += 1;
    stdout.flush();
  });
  stdout.on("drain", () => {
    const lines = dropped;
    dropped = 0;
    if (lines > 0) onDropped(lines);
  });
  // it would retry forever while the disk is full and block the process; runService waits for `flush` at its end
  stdout.flushSync = () => undefined;
  return stdout;
}

const plain = /^\w+$/;

function quoted(name: string): string {
  return plain.test(name) ? name : `["${name}"]`;
}

function quotedMember(name: string): string {
  return plain.test(name) ? `.${name}` : `["${name}"]`;
}
