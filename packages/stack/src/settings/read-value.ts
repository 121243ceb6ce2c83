import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { StartError } from "../start-error.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Answers the value of a setting, or undefined where it is not given. */
export type Value = (name: string) => string | undefined;

/**
 * Answers the value of NAME or, where the name is one of `withFile`, of the file NAME_FILE. An empty value counts as not given, but an empty file
 * is an error: without its content the start would use another database or another password.
 */
export function readValue(
  env: Environment,
  name: string,
  { cwd, withFile }: { cwd: string; withFile: readonly string[] },
): string | undefined {
  const own = env[name] || undefined;
  const file = withFile.includes(name) ? env[`${name}_FILE`] || undefined : undefined;
  if (file === undefined) return own;
  if (own !== undefined) throw new StartError(`${name} and ${name}_FILE are both given: use one`);
  const text = readText(name, resolve(cwd, file), file).trim();
  if (text === "") throw new StartError(`${name}_FILE: ${file} is empty`);
  return text;
}

function readText(name: string, path: string, file: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    throw new StartError(`${name}_FILE: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`);
  }
}

/** Answers the settings of these names that are given. */
export function given(names: readonly string[], value: Value): { name: string; text: string }[] {
  return names.flatMap((name) => {
    const text = value(name);
    return text === undefined ? [] : [{ name, text }];
  });
}

/** Reads the port of the gateway. */
export function readPort(text: string): number {
  const port = Number(text);
  if (!/^\d+$/.test(text) || port < 1 || port > 65_535)
    throw new StartError(`HARRIER_HTTP_PORT must be a port from 1 to 65535, not "${text}"`);
  return port;
}

/** Reads a number of bytes, of up to 15 digits. */
export function readBytes(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (!/^\d{1,15}$/.test(text)) throw new StartError(`${name} must be a number of bytes, not "${text}"`);
  return Number(text);
}

/** Reads a number of days between two bounds, which are included. */
export function readDays(name: string, value: Value, [least, most]: readonly [number, number]): number | undefined {
  const text = value(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,4}$/.test(text) || Number(text) < least || Number(text) > most)
    throw new StartError(`${name} must be a number of days from ${least} to ${most}, not "${text}"`);
  return Number(text);
}
