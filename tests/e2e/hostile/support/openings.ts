// These are beginnings of requests, as text for a bare connection.

const kiB64 = 65_536;

/** Builds the head of a request whose body is to follow; `fields` are further lines of it. */
export function head(method: string, path: string, fields: Readonly<Record<string, string>> = {}): string {
  const lines = Object.entries({ host: "harrier.example", ...fields }).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${method} ${path} HTTP/1.1\r\n${lines.join("")}\r\n`;
}

export const chunked = { "transfer-encoding": "chunked", "content-type": "application/json" } as const;

/** 64 KiB of a chunked body. */
export const chunk64 = `${kiB64.toString(16)}\r\n${" ".repeat(kiB64)}\r\n`;
/** One byte of a chunked body. */
export const chunk1 = "1\r\n \r\n";
/** This is all of 1 MiB except for the end of the body: 256 of them are exactly the maximum of all bodies together. */
export const oneMiB = { text: chunk64, times: 16 } as const;
