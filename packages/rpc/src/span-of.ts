import type { SpanStart } from "@harrier/tracing";

/** Answers how the span of a call begins, on either side; `path` is `/<service>/<method>`. */
export function spanOf(path: string, kind: "client" | "server", parent: string | undefined): SpanStart {
  const [, service = "", method = ""] = path.split("/");
  return { name: `${service}/${method}`, kind, parent, attributes: { "rpc.system.name": "grpc", "rpc.method": path.slice(1) } };
}
