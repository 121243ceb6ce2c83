import { existsSync, readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import type { MethodDefinition, ServiceDefinition } from "@grpc/grpc-js";
import { loadSync, type PackageDefinition } from "@grpc/proto-loader";
import { loaderOptions } from "./loader-options.ts";
import type { ProtoServiceName } from "./services.ts";

/** The nearest `protos/harrier` above this file: the repository's, or the one that an image has beside the app. */
export const defaultProtosDir = findProtos(import.meta.dirname);

function findProtos(from: string): string {
  const dir = join(from, "protos");
  if (existsSync(join(dir, "harrier"))) return dir;
  const parent = dirname(from);
  if (parent === from) throw new Error("no directory protos/harrier above @harrier/rpc");
  return findProtos(parent);
}

// definitions are kept, because reading takes 10 to 50 ms, and a service needs them once per client and proto service
const loaded = new Map<string, PackageDefinition>();

function loadPackage(protosDir: string): PackageDefinition {
  const known = loaded.get(protosDir);
  if (known !== undefined) return known;
  const files = readdirSync(protosDir, { recursive: true })
    .map(String)
    .filter((name) => name.endsWith(".proto"));
  const definition = loadSync(files, { ...loaderOptions, includeDirs: [protosDir] });
  loaded.set(protosDir, definition);
  return definition;
}

/** Reads the method definitions of one proto service by JavaScript name from the proto files. */
export function loadService(service: ProtoServiceName, protosDir = defaultProtosDir): Map<string, MethodDefinition<object, object>> {
  const definition = loadPackage(protosDir)[service] as ServiceDefinition | undefined;
  if (definition === undefined) throw new Error(`no proto service ${service} below ${protosDir}`);
  return new Map(
    Object.entries(definition).map(([name, method]) => [
      name.charAt(0).toLowerCase() + name.slice(1),
      method as MethodDefinition<object, object>,
    ]),
  );
}
