import { StartError } from "../start-error.ts";
import { given, type Value } from "./read-value.ts";

/** These are passed on unchanged to controller, which knows their defaults. */
export const controllerNames = ["HARRIER_ARTIFACT_LINKS", "HARRIER_DOWNLOAD_URL"];

/** These are passed on unchanged to management, which knows their defaults. */
export const managementNames = ["HARRIER_SESSION_TTL", "HARRIER_SESSION_IDLE"];

/** Reads controller's settings and reports errors here in one line, because controller could only fail to start. */
export function readController(value: Value): Record<string, string> {
  const all = texts(controllerNames, value);
  const { HARRIER_ARTIFACT_LINKS: links = "classic", HARRIER_DOWNLOAD_URL: host = "https://files.example.com" } = all;
  if (!/^(classic|hawkbit|((download|md5sum)(-http)?=\S+(\s+|$))+)$/.test(links))
    throw new StartError(`HARRIER_ARTIFACT_LINKS must be classic, hawkbit, or patterns like download=hawkbit, not "${links}"`);
  if (!/^https?:\/\/[^\s?#]+$/.test(host))
    throw new StartError(`HARRIER_DOWNLOAD_URL must be a URL like https://files.example.com, not "${host}"`);
  return all;
}

/** A session lasts a minute at least, and thirty days at most: management's own bounds. */
const [leastSeconds, mostSeconds] = [60, 2_592_000];

/** Reads management's settings and reports errors here in one line, because management could only fail to start. */
export function readManagement(value: Value): Record<string, string> {
  const all = texts(managementNames, value);
  for (const [name, text] of Object.entries(all)) {
    if (!/^\d{1,7}$/.test(text) || Number(text) < leastSeconds || Number(text) > mostSeconds)
      throw new StartError(`${name} must be a number of seconds from ${leastSeconds} to ${mostSeconds}, not "${text}"`);
  }
  return all;
}

const texts = (names: readonly string[], value: Value): Record<string, string> =>
  Object.fromEntries(given(names, value).map(({ name, text }) => [name, text]));
