import { multipart } from "@harrier/testkit";
import { Pool } from "undici";

/** The management interface as a benchmark needs it: any answer outside 2xx ends the run. */
export interface Api {
  get<T>(path: string): Promise<T>;
  post<T>(path: string, body: unknown): Promise<T>;
  put<T>(path: string, body: unknown): Promise<T>;
  upload(path: string, file: { name: string; bytes: Buffer }): Promise<{ id: number }>;
  close(): Promise<void>;
}

/** Signs in as the administrator unless another user is named. */
export function createApi(baseUrl: string, password: string, user = "admin"): Api {
  const pool = new Pool(baseUrl, { connections: 4, headersTimeout: 60_000, bodyTimeout: 60_000 });
  const authorization = `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;
  const send = async <T>(method: "GET" | "POST" | "PUT", path: string, payload?: { type: string; body: string | Buffer }): Promise<T> => {
    const answer = await pool.request({
      method,
      path: `/api/mgmt/v1${path}`,
      headers: { authorization, ...(payload ? { "content-type": payload.type } : {}) },
      ...(payload ? { body: payload.body } : {}),
    });
    const text = await answer.body.text();
    if (answer.statusCode >= 300) throw new Error(`${method} ${path}: ${answer.statusCode} ${text.slice(0, 300)}`);
    return (text === "" ? undefined : JSON.parse(text)) as T;
  };
  const json = (body: unknown) => ({ type: "application/json", body: JSON.stringify(body) });
  return {
    get: (path) => send("GET", path),
    post: (path, body) => send("POST", path, json(body)),
    put: (path, body) => send("PUT", path, json(body)),
    upload: (path, { name: filename, bytes }) => send("POST", path, multipart([{ filename, bytes }])),
    close: () => pool.close(),
  };
}
