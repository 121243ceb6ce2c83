/** The client that a token request names (RFC 6749 §2.3.1), and its credential. */
export interface ClaimedClient {
  readonly scheme: "client_secret_basic" | "client_secret_post" | "client_assertion" | "unknown";
  /** The client's id; "" where none is named. */
  readonly clientId: string;
  readonly secret: string;
}

/**
 * Reads the client of a token request. Management verifies it; the gateway only counts it and reports denials. Management rejects credentials in both
 * places at once, so the gateway then reads only the header.
 */
export function claimedClient(authorization: string | undefined, body: Buffer | undefined): ClaimedClient {
  return authorization === undefined ? ofForm(new URLSearchParams(body?.toString("utf8"))) : ofHeader(authorization);
}

function ofHeader(authorization: string): ClaimedClient {
  const value = /^basic (.*)$/i.exec(authorization)?.[1];
  if (value === undefined) return { scheme: "unknown", clientId: "", secret: "" };
  const text = Buffer.from(value, "base64").toString("utf8");
  const colon = text.indexOf(":");
  // Without a colon all of it may be the secret.
  if (colon < 0) return { scheme: "client_secret_basic", clientId: "", secret: "" };
  return { scheme: "client_secret_basic", clientId: decoded(text.slice(0, colon)), secret: decoded(text.slice(colon + 1)) };
}

function ofForm(form: URLSearchParams): ClaimedClient {
  const secret = form.get("client_secret") ?? "";
  const otherwise = form.has("client_assertion") ? "client_assertion" : "unknown";
  return { scheme: secret === "" ? otherwise : "client_secret_post", clientId: form.get("client_id") ?? "", secret };
}

/** Decodes a part, as both are encoded like a form's; otherwise one client would have as many names as spellings. */
function decoded(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll("+", " "));
  } catch {
    return part;
  }
}
