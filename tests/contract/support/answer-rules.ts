import type { Answer } from "./http.ts";

interface Requested {
  method: string;
  path: string;
  baseUrl: string;
}

const errorMembers = new Set(["exceptionClass", "errorCode", "message", "parameters", "info"]);
const withoutBody = new Set([204, 304, 401, 416]);

/** These rules hold for every answer of the service, whoever asked for whatever (contract device.md §10.1, management.md §1 and §2). */
export function checkAnswer(requested: Requested, answer: Answer): void {
  const broken = (rule: string): never => {
    throw new Error(`${requested.method} ${requested.path} answered ${answer.status} ${answer.text.slice(0, 500)}: ${rule}`);
  };
  const { status, headers, bytes } = answer;
  if (status >= 500) broken("the service must not fail");
  if (withoutBody.has(status) && bytes.length > 0) broken("this status has no body");
  // A download whose hash is another one has none; a change of what is not as it was read says so (contract management.md §1.1, §2.3).
  if (status === 412 && (requested.method === "GET" || requested.method === "HEAD") !== (bytes.length === 0))
    broken("a 412 of a change has a body, of a read none");
  if (status === 401 && headers["www-authenticate"] === undefined) broken("a 401 names its scheme");
  if (status === 405 && answer.text === "" && headers["allow"] === undefined) broken("a 405 of the framework names the methods");
  if (answer.json !== undefined) checkJson(requested, answer, broken);
  if (status >= 400 && bytes.length > 0) checkError(answer, broken);
}

/** Devices drop a body whose length header is missing or wrong (contract device.md §1.3). */
function checkJson(requested: Requested, answer: Answer, broken: (rule: string) => never): void {
  const { headers, bytes } = answer;
  if (headers["transfer-encoding"] !== undefined) broken("JSON is not sent in chunks");
  if (Number(headers["content-length"]) !== bytes.length) broken("JSON has its exact length");
  // CBOR has no charset.
  const typed = /^application\/(cbor|(hal\+)?json;\s?charset=utf-8)$/i.test(String(headers["content-type"]));
  if (!typed) broken("JSON names its charset");
  for (const href of hrefsOf(answer.json)) if (!href.startsWith(`${requested.baseUrl}/`)) broken(`the link ${href} leads elsewhere`);
}

function checkError(answer: Answer, broken: (rule: string) => never): void {
  const body = answer.json as Record<string, unknown> | undefined;
  if (typeof body !== "object" || body === null || Array.isArray(body)) broken("an error's body is an object");
  for (const [member, value] of Object.entries(body ?? {})) {
    if (!errorMembers.has(member)) broken(`an error has no member ${member}`);
    if (value === null || value === "") broken(`an error omits an empty ${member}`);
  }
  if (typeof body?.["message"] !== "string") broken("an error has a message");
  const named = typeof body?.["errorCode"] === "string" && typeof body["exceptionClass"] === "string";
  // A body that is too large is denied while it is still being sent, before the request is known.
  if (!named && answer.status !== 413) broken("an error has errorCode and exceptionClass");
  if (/\bat .+:\d+:\d+|\bselect\b.+\bfrom\b|ECONN|node_modules/i.test(String(body?.["message"]))) broken("an error shows no internals");
}

/** Finds every `href` in a JSON value. */
export function hrefsOf(value: unknown): string[] {
  if (Array.isArray(value)) return value.flatMap(hrefsOf);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([key, member]) => (key === "href" && typeof member === "string" ? [member] : hrefsOf(member)));
}
