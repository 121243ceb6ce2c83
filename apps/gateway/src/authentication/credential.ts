import { deviceApiKeyPrefix } from "@harrier/contracts";

// It runs for every poll: most credentials differ from a token in their first letter.
const scheme = /^bearer /i;

/** Reads the access token of `Authorization: Bearer …`, if it is one. */
export function parseBearer(authorization: string | undefined): string | undefined {
  if (authorization === undefined || !scheme.test(authorization)) return undefined;
  return parseCredential(authorization)?.value;
}

/** A credential as the Authorization header carries it. */
export interface Credential {
  /** The canonical name of the scheme; undefined for an unknown one. */
  scheme: "Basic" | "Bearer" | "TargetToken" | "GatewayToken" | "ApiKey" | undefined;
  value: string;
}

const schemes: ReadonlyMap<string, NonNullable<Credential["scheme"]>> = new Map([
  ["basic", "Basic"],
  ["bearer", "Bearer"],
  ["targettoken", "TargetToken"],
  ["gatewaytoken", "GatewayToken"],
  ["apikey", "ApiKey"],
]);

/** Longer ones are denied before any work is done for them; access tokens name many roles. */
const maxLength = 4_096;
const maxTokenLength = 8_192;

/**
 * Splits an Authorization header. The scheme is case-insensitive (RFC 9110), the rest is taken verbatim (contract device.md §9). A device API key may
 * stand alone (spec 000 §5.5). Undefined means that it holds no credential.
 */
export function parseCredential(header: string | undefined): Credential | undefined {
  if (header === undefined || header.length > maxTokenLength) return undefined;
  const blank = header.indexOf(" ");
  if (blank < 0 && header.startsWith(deviceApiKeyPrefix)) return { scheme: "ApiKey", value: header };
  if (blank <= 0 || blank === header.length - 1) return undefined;
  const word = header.slice(0, blank);
  const scheme = schemes.get(word) ?? schemes.get(word.toLowerCase());
  if (header.length > maxLength && scheme !== "Bearer") return undefined;
  return { scheme, value: header.slice(blank + 1) };
}
