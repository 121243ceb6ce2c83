import { codes, type ErrorCode } from "@harrier/errors";
import { textWithin } from "./answer.ts";

/** The body of a refused request (spec 000 §7.2). */
export interface ApiErrorBody {
  readonly exceptionClass?: string;
  readonly errorCode?: string;
  readonly message?: string;
  readonly info?: Readonly<Record<string, unknown>>;
}

interface Refusal {
  readonly operation: string;
  readonly status: number;
  readonly body: ApiErrorBody;
  readonly requestId?: string | undefined;
  /** Seconds after which the server would take the request again. */
  readonly retryAfter?: number | undefined;
  /** The errors that the route may answer, by which equal codes of the table are told apart. */
  readonly expected?: readonly ErrorCode[] | undefined;
}

/** A request that the server has refused: the status, and the row of the error table that it comes from. */
export class ApiError extends Error {
  readonly operation: string;
  readonly status: number;
  readonly body: ApiErrorBody;
  /** The code of the error table; absent for answers of proxies and for those without a body. */
  readonly code?: ErrorCode;
  readonly requestId?: string;
  readonly retryAfter?: number;

  constructor(refusal: Refusal) {
    super(refusal.body.message ?? `${refusal.operation} was answered ${refusal.status}`);
    this.name = "ApiError";
    this.operation = refusal.operation;
    this.status = refusal.status;
    this.body = refusal.body;
    const code = codeOf(refusal);
    if (code !== undefined) this.code = code;
    if (refusal.requestId !== undefined) this.requestId = refusal.requestId;
    if (refusal.retryAfter !== undefined) this.retryAfter = refusal.retryAfter;
  }
}

/** What says why a request is refused is short; more is not of the server. */
const maxRefusalBytes = 1024 * 1024;

/** Reads why the server has refused a request; `expected` are the errors that its route may answer. It never rejects. */
export async function refusalOf(operation: string, answer: Response, expected?: readonly ErrorCode[]): Promise<ApiError> {
  const text = (await textWithin(answer, maxRefusalBytes).catch(() => undefined)) ?? "";
  let body: ApiErrorBody = {};
  try {
    if (text.startsWith("{")) body = JSON.parse(text) as ApiErrorBody;
  } catch {
    // a proxy in between has answered something else
  }
  const retryAfter = Number(answer.headers.get("retry-after") ?? Number.NaN);
  return new ApiError({
    operation,
    status: answer.status,
    body,
    requestId: answer.headers.get("x-request-id") ?? undefined,
    retryAfter: Number.isFinite(retryAfter) ? retryAfter : undefined,
    expected,
  });
}

/** No answer came: the server could not be reached, or the connection broke. */
export class NetworkError extends Error {
  constructor(url: string, cause: unknown) {
    super(`${new URL(url).origin} cannot be reached: ${reasonOf(cause)}`, { cause });
    this.name = "NetworkError";
  }
}

function codeOf({ status, body, expected = [] }: Refusal): ErrorCode | undefined {
  const all = (Object.keys(codes) as ErrorCode[]).filter((code) => {
    const row = codes[code];
    return row.status.spec === status && row.hawkbit === (body.errorCode ?? "") && row.hawkbit !== "";
  });
  return all.find((code) => expected.includes(code)) ?? all[0];
}

function reasonOf(thrown: unknown): string {
  const cause = thrown instanceof Error ? (thrown.cause ?? thrown) : thrown;
  // an AggregateError of several addresses has no message of its own, but the code of the first
  if (cause instanceof Error) return cause.message || String((cause as { code?: unknown }).code ?? cause.name);
  return String(cause);
}
