import type { Metadata, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { HarrierError } from "@harrier/errors";
import { mayCall } from "./callers.ts";
import { type Identity, identityHeader, verifyIdentity } from "./identity.ts";
import type { KeySet } from "./keys.ts";
import { identityMethod, keysOfMetadata } from "./metadata.ts";
import type { MethodKind } from "./methods.ts";
import type { ProtoServiceName, ServiceName } from "./services.ts";
import type { CallContext } from "./types.ts";

export type AnyServerCall = ServerUnaryCall<object, object> | ServerWritableStream<object, object>;

export interface ServedMethod {
  readonly service: ProtoServiceName;
  readonly name: string;
  readonly path: string;
  readonly kind: MethodKind;
}

/** For a caller that sent no deadline. */
const defaultLifeMs = 30_000;
/** Kept back for the way home, so that our answer arrives before the caller gives up. */
const answerReserveMs = 20;
/** Less than this is not worth beginning: the caller would be gone before the commit. */
const leastRemainingMs = 100;

/** Checks who calls and with how much time left; what comes back is all that a handler knows of its call. */
export function beginCall(call: AnyServerCall, method: ServedMethod, audience: ServiceName, keys: KeySet): CallContextImpl {
  const now = Date.now();
  const identity = verifyIdentity(keys, audience, textOf(call.metadata, identityHeader), {
    method: identityMethod,
    path: method.path,
    now,
  });
  if (!mayCall(identity.caller, method.service, method.name)) {
    throw new HarrierError("insufficientPermission", `${identity.caller} may not call ${method.service}.${method.name}`);
  }
  checkCertificate(call, identity.caller);
  const commandId = textOf(call.metadata, keysOfMetadata.commandId);
  if (method.kind === "command" && commandId === undefined) {
    throw new HarrierError("internal", `${method.service}.${method.name} needs a command id`);
  }
  const given = Number(call.getDeadline());
  const deadline = Number.isFinite(given) ? given - answerReserveMs : now + defaultLifeMs;
  if (method.kind === "stream") return new CallContextImpl(identity, Number.POSITIVE_INFINITY, commandId);
  if (deadline - now < leastRemainingMs) throw new HarrierError("deadlineExceeded");
  return new CallContextImpl(identity, deadline, commandId);
}

export class CallContextImpl implements CallContext {
  readonly principal: Identity;
  readonly deadline: number;
  readonly commandId?: string;
  readonly traceparent?: string;
  readonly abort = new AbortController();

  constructor(identity: Identity, deadline: number, commandId: string | undefined) {
    this.principal = identity;
    this.deadline = deadline;
    if (commandId !== undefined) this.commandId = commandId;
    if (identity.traceparent !== undefined) this.traceparent = identity.traceparent;
  }

  get caller(): ServiceName {
    return this.principal.caller;
  }
  get rid(): string {
    return this.principal.rid;
  }
  get baseUrl(): string {
    return this.principal.baseUrl;
  }
  get signal(): AbortSignal {
    return this.abort.signal;
  }
  remaining(): number {
    return this.deadline - Date.now();
  }
}

/** With mutual TLS the name in the certificate must be the caller's: `management` or `management.<anything>`. */
function checkCertificate(call: AnyServerCall, caller: ServiceName): void {
  const context = call.getAuthContext();
  if (context.transportSecurityType !== "ssl") return;
  const names = namesOf(context.sslPeerCertificate);
  if (!names.some((name) => name === caller || name.startsWith(`${caller}.`))) {
    throw new HarrierError("unauthenticated", undefined, { cause: new Error(`certificate of ${names.join(", ")} used by ${caller}`) });
  }
}

function namesOf(certificate: { subject?: { CN?: string | string[] }; subjectaltname?: string | undefined } | undefined): string[] {
  const common = certificate?.subject?.CN ?? [];
  const alternative = (certificate?.subjectaltname ?? "").split(", ").filter((name) => name.startsWith("DNS:"));
  return [common, alternative.map((name) => name.slice("DNS:".length))].flat();
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0];
  return value === undefined ? undefined : String(value);
}
