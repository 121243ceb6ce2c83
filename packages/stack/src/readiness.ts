import { get } from "node:http";
import { get as getByTls } from "node:https";

const LIMIT_MS = 2_000;

export interface Readiness {
  ready: boolean;
  /** The service's own answer about it, on one line. */
  text: string;
}

/** The certificate and authority, PEM, for requests to services with mutual TLS: any client certificate that their authority issued is sufficient. */
export interface ReadinessTls {
  readonly cert: string;
  readonly key: string;
  readonly ca: string;
}

/** Requests `GET /readyz` of a service on this machine; 200 is ready. */
export function askReady(port: number, tls?: ReadinessTls): Promise<Readiness> {
  return new Promise((resolve) => {
    const options = { host: "127.0.0.1", port, path: "/readyz", timeout: LIMIT_MS, agent: false, ...tls } as const;
    const request = (tls === undefined ? get : getByTls)(options, (response) => {
      let text = "";
      response.setEncoding("utf8");
      response.on("data", (data: string) => {
        text += data;
      });
      response.on("end", () => resolve({ ready: response.statusCode === 200, text: text.replaceAll(/\s+/g, " ").slice(0, 200) }));
      response.on("error", () => resolve({ ready: false, text: "" }));
    });
    request.on("timeout", () => request.destroy());
    request.on("error", () => resolve({ ready: false, text: "" }));
  });
}
