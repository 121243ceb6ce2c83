/** An answer. `body` is parsed JSON, the text if it is not JSON, or undefined if there is none. */
export interface Answer<Body = unknown> {
  readonly status: number;
  readonly headers: Headers;
  readonly body: Body;
}

export interface Call {
  method?: string;
  headers?: Readonly<Record<string, string>>;
  /** It is sent as JSON; FormData, bytes and streams are sent unchanged. */
  body?: unknown;
}

/** Makes the Authorization header of a name and a password or secret (RFC 7617). */
export const basic = (name: string, secret: string): string => `Basic ${Buffer.from(`${name}:${secret}`).toString("base64")}`;

const isRaw = (body: unknown): body is FormData | Uint8Array<ArrayBuffer> | ReadableStream =>
  body instanceof FormData || body instanceof Uint8Array || body instanceof ReadableStream;

/** Sends one request. Any status is an answer, not an error. */
export async function send<Body = unknown>(url: string, call: Call = {}): Promise<Answer<Body>> {
  const headers = new Headers(call.headers);
  const init: RequestInit & { duplex?: "half" } = { method: call.method ?? "GET", headers, redirect: "manual" };
  if (isRaw(call.body)) {
    init.body = call.body;
    init.duplex = "half";
  } else if (call.body !== undefined) {
    init.body = JSON.stringify(call.body);
    if (!headers.has("content-type")) headers.set("content-type", "application/json");
  }
  const response = await fetch(url, init);
  return { status: response.status, headers: response.headers, body: parse(await response.text(), response.headers) as Body };
}

function parse(text: string, headers: Headers): unknown {
  if (text === "") return undefined;
  return /[/+]json\b/.test(headers.get("content-type") ?? "") ? JSON.parse(text) : text;
}

/** Answers the body of an answer that had to succeed; the error shows the actual answer. */
export function succeeded<Body>(answer: Answer<Body>, what: string): Body {
  if (answer.status < 200 || answer.status > 299) throw new Error(`${what}: ${answer.status} ${JSON.stringify(answer.body)}`);
  return answer.body;
}
