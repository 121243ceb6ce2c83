import { openAsBlob } from "node:fs";
import { basename } from "node:path";
import { FormData } from "undici";
import { type Answer, type Call, type Http, parseJson, type Settled, untilAnswered } from "../http.ts";

export interface AdminOptions {
  readonly http: Http;
  readonly baseUrl: string;
  readonly user: string;
  readonly password: string;
  readonly signal: AbortSignal;
}

/** An answer that is no success. */
export class ApiError extends Error {
  readonly status: number;
  constructor(what: string, answer: Answer) {
    super(`${what} answered with ${answer.status}: ${answer.body.toString().slice(0, 300)}`);
    this.status = answer.status;
  }
}

export interface Page<T> {
  readonly content: readonly T[];
  readonly total: number;
}

export type Admin = ReturnType<typeof createAdmin>;

const timeoutMs = 120_000;

/** Makes an administrator of the management interface who repeats unanswered requests without doing anything twice. */
export function createAdmin(options: AdminOptions) {
  const { http, baseUrl, user, password, signal } = options;
  const headers = { authorization: `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`, accept: "application/json" };
  const settle = (path: string, call: () => Call): Promise<Settled> => {
    const attempt = (): Promise<Answer> => {
      const made = call();
      return http.send(`${baseUrl}/api/mgmt/v1/${path}`, { ...made, headers: { ...headers, ...made.headers } });
    };
    return untilAnswered(attempt, { ms: timeoutMs, signal });
  };
  const json = (method: "POST" | "PUT", body: unknown) => (): Call => {
    return { method, headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  };
  const get = async <T>(path: string): Promise<T> => parseJson<T>(succeeded(`GET ${path}`, (await settle(path, () => ({}))).answer));
  /** `find` reads what an unanswered first attempt created, because the second one gets a conflict. */
  const create = async <T>(path: string, call: () => Call, find: () => Promise<T | undefined>): Promise<T> => {
    const { answer, repeated } = await settle(path, call);
    const own = answer.status === 409 && repeated ? await find() : undefined;
    return own ?? parseJson<T>(succeeded(`POST ${path}`, answer));
  };
  return {
    get,
    /** Sends it once, where a repetition would change no answer: any status is one. */
    once: (method: "POST", path: string): Promise<Answer> => http.send(`${baseUrl}/api/mgmt/v1/${path}`, { method, headers }),
    async put(path: string, body: unknown): Promise<void> {
      succeeded(`PUT ${path}`, (await settle(path, json("PUT", body))).answer);
    },
    create: <T>(path: string, body: unknown, find: () => Promise<T | undefined>) => create<T>(path, json("POST", body), find),
    /** Sends a command without a body; `isDone` tells whether an unanswered first attempt has done it. */
    async command(path: string, isDone: () => Promise<boolean>): Promise<void> {
      const { answer, repeated } = await settle(path, () => ({ method: "POST" }));
      if (answer.status >= 400 && repeated && (await isDone())) return;
      succeeded(`POST ${path}`, answer);
    },
    /** Streams a file from the disk. */
    async upload<T extends { readonly providedFilename: string }>(moduleId: number, file: string): Promise<T> {
      const path = `softwaremodules/${moduleId}/artifacts`;
      const blob = await openAsBlob(file);
      const name = basename(file);
      const form = (): Call => {
        const body = new FormData();
        body.set("file", blob, name);
        return { method: "POST", body: body as unknown as globalThis.FormData, idleMs: 60_000 };
      };
      return await create<T>(path, form, async () => (await get<T[]>(path)).find((artifact) => artifact.providedFilename === name));
    },
  };
}

function succeeded(what: string, answer: Answer): Answer {
  if (answer.status < 200 || answer.status > 299) throw new ApiError(what, answer);
  return answer;
}
