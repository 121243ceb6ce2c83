import { readdirSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";
import { loaderOptions } from "./loader-options.ts";
import type { ProtoServiceName } from "./services.ts";

/** `protos/` of the repository; src/ and dist/ lie equally deep. */
export const defaultProtosDir = fileURLToPath(new URL("../../../protos", import.meta.url));

/** The method definitions of one proto service by JavaScript name, read from the proto files. */
export function loadService(service: ProtoServiceName, protosDir = defaultProtosDir): Map<string, MethodDefinition<object, object>> {
  const files = readdirSync(protosDir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".proto"));
  const loaded = loadSync(files, { ...loaderOptions, includeDirs: [protosDir] });
  const definition = loaded[service] as ServiceDefinition | undefined;
  if (definition === undefined) throw new Error(`no proto service ${service} below ${protosDir}`);
  return new Map(
    Object.entries(definition).map(([name, method]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      method as MethodDefinition<object, object>,
    ]),
  );
}
