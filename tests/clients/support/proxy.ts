import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@harrier/stack";
import { type Authority, type Nginx, type Pair, type ProxiedRequest, startNginx } from "@harrier/testkit";

/** The names of the pair of certificate headers that hawkBit's proxies write (to 0.10), as in the gateway's setting. */
export const CERTIFICATE_HEADERS = "X-Ssl-Client-Cn:X-Ssl-Issuer-Hash-%d";

/** The rule of the proxy that a request matched; its answer names it in `X-Rule`. */
export type Rule = "download" | "device" | "management" | "classic-download";

export interface ReverseProxy {
  /** The address with the rules for hawkBit's paths; any other path is 404. */
  readonly hawkbit: string;
  /** The address with the same rules, and one for downloads by classic links. */
  readonly both: string;
  /** The address with hawkBit's rules behind TLS, for devices with a certificate. */
  readonly tls: string;
  /** Returns the requests to one of the three, oldest first. */
  requestsTo(baseUrl: string): ProxiedRequest[];
  stop(): Promise<void>;
}

export interface ProxyOptions {
  /** The address of the gateway. */
  upstream: string;
  /** The server's own certificate. */
  server: Pair;
  /** Issues the certificates of devices. */
  devices: Authority;
  /** The proxy's name for that issuer. */
  issuer: string;
}

/** Starts nginx in front of the gateway, with rules as they are written for hawkBit. */
export async function startProxy({ upstream, server, devices, issuer }: ProxyOptions): Promise<ReverseProxy> {
  const dir = mkdtempSync(join(tmpdir(), "harrier-proxy-"));
  const file = (name: string, text: string) => {
    writeFileSync(join(dir, name), text, { mode: 0o600 });
    return join(dir, name);
  };
  const [hawkbit = 0, both = 0, tls = 0] = await freePorts(3);
  const certificates = `
    ssl_certificate ${file("server.pem", server.cert)};
    ssl_certificate_key ${file("server.key", server.key)};
    ssl_client_certificate ${file("devices.pem", devices.cert)};
    ssl_verify_client on;`;
  const http = `
  map $ssl_client_s_dn $common_name { default ""; "~(^|,)CN=(?<name>[^,]+)" $name; }
  map $ssl_client_verify $issuer { default ""; SUCCESS "${issuer}"; }
  proxy_http_version 1.1;
  proxy_set_header Connection "";
  proxy_set_header X-Forwarded-For $remote_addr;
  proxy_set_header X-Forwarded-Proto $scheme;
  proxy_set_header X-Forwarded-Host $host;
  proxy_set_header X-Forwarded-Port $server_port;
  # also where there is no certificate: what a client says of one must not pass
  proxy_set_header X-Ssl-Client-Cn $common_name;
  proxy_set_header X-Ssl-Issuer-Hash-1 $issuer;
  client_max_body_size 0;
  server { listen 127.0.0.1:${hawkbit}; ${hawkbitRules(upstream)} }
  server { listen 127.0.0.1:${both}; ${hawkbitRules(upstream)} ${rule("classic-download", "~ ^/api/v1/[^/]+/download/controller/", upstream)} }
  server { listen 127.0.0.1:${tls} ssl; ${certificates} ${hawkbitRules(upstream)} }`;
  let nginx: Nginx;
  try {
    nginx = await startNginx({ http, port: hawkbit });
  } catch (error) {
    rmSync(dir, { recursive: true, force: true });
    throw error;
  }
  return {
    hawkbit: `http://127.0.0.1:${hawkbit}`,
    both: `http://127.0.0.1:${both}`,
    // The address has a name, because undici 4 accepts no IP address here.
    tls: `https://localhost:${tls}`,
    requestsTo: (baseUrl) => nginx.requests().filter(({ port }) => port === Number(new URL(baseUrl).port)),
    async stop() {
      await nginx.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}

// The first regular expression that matches counts, so downloads precede the rest of the device interface.
const hawkbitRules = (upstream: string): string => `
    ${rule("download", "~ ^/[^/]+/controller/v1/[^/]+/softwaremodules/[0-9]+/artifacts/[^/]+$", upstream, "limit_rate 8m;")}
    ${rule("device", "~ ^/[^/]+/controller/v1/", upstream)}
    ${rule("management", "/rest/v1/", upstream)}
    location / { return 404; }`;

const rule = (name: Rule, location: string, upstream: string, limit = "") =>
  `location ${location} { proxy_pass ${upstream}; add_header X-Rule ${name} always; ${limit} }`;
