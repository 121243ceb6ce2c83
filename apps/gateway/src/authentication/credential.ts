/** A credential as the Authorization header carries it. */
export interface Credential {
  /** Canonical scheme name, `Basic`, `TargetToken`, `GatewayToken`; undefined for any other. */
  scheme: "Basic" | "TargetToken" | "GatewayToken" | undefined;
  value: string;
}

const schemes: ReadonlyMap<string, NonNullable<Credential["scheme"]>> = new Map([
  ["basic", "Basic"],
  ["targettoken", "TargetToken"],
  ["gatewaytoken", "GatewayToken"],
]);

/** Longer ones are refused before any work is done for them. */
const maxLength = 4_096;

/**
 * Splits an Authorization header. The scheme is case-insensitive (RFC 9110), the rest is taken verbatim
 * (contract device.md §9). Undefined: nothing that could sign anybody in.
 */
export function parseCredential(header: string | undefined): Credential | undefined {
  if (header === undefined || header.length > maxLength) return undefined;
  const blank = header.indexOf(" ");
  if (blank <= 0 || blank === header.length - 1) return undefined;
  const word = header.slice(0, blank);
  return { scheme: schemes.get(word) ?? schemes.get(word.toLowerCase()), value: header.slice(blank + 1) };
}
