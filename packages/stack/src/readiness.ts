import { get } from "node:http";

const LIMIT_MS = 2_000;

export interface Readiness {
  ready: boolean;
  /** What the service says about it, on one line. */
  text: string;
}

/** Asks a service on this machine `GET /readyz`; 200 is ready. */
export function askReady(port: number): Promise<Readiness> {
  return new Promise((resolve) => {
    const request = get({ host: "127.0.0.1", port, path: "/readyz", timeout: LIMIT_MS, agent: false }, (response) => {
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
