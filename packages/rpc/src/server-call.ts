import type { Metadata, ServerUnaryCall, ServerWritableStream } from "@grpc/grpc-js";
import { HarrierError } from "@harrier/errors";
import type { TracedSpan } from "@harrier/tracing";
import { actingOf } from "./callers.ts";
import { isCertificateOf, namesOf } from "./certificates.ts";
import { digestOf, type Identity, identityHeader, type Principal, refused } from "./identity.ts";
import type { IdentityGate } from "./identity-gate.ts";
import type { KeySet } from "./keys.ts";
import { coveredInCall, identityMethod, keysOfMetadata } from "./metadata.ts";
import { isChange, type MethodKind } from "./methods.ts";
import { isFor, onBehalfHeader, verifyDelegation } from "./on-behalf.ts";
import type { ProtoServiceName, ServiceName } from "./services.ts";
import type { CallContext } from "./types.ts";

export type AnyServerCall = ServerUnaryCall<object, object> | ServerWritableStream<object, object>;

export interface ServedMethod {
  readonly service: ProtoServiceName;
  readonly name: string;
  readonly path: string;
  readonly kind: MethodKind;
}

/** This is the deadline if the caller sent none. */
const defaultLifeMs = 30_000;
/** So much of the deadline is reserved for the way back, so that our answer arrives before the caller gives up. */
const answerReserveMs = 20;
/** With less time than this nothing is begun, because the caller would be gone before the commit. */
const leastRemainingMs = 100;

export interface Edge {
  readonly audience: ServiceName;
  readonly keys: KeySet;
  readonly gate: IdentityGate;
  /** Answers the bytes that the message of a call was read from. */
  bytesOf(request: object): Buffer;
}

/** Checks who calls, in whose name and with how much time left; a handler knows only what is returned here. */
export function beginCall(call: AnyServerCall, method: ServedMethod, edge: Edge): CallContextImpl {
  const now = Date.now();
  const commandId = textOf(call.metadata, keysOfMetadata.commandId);
  const delegation = textOf(call.metadata, onBehalfHeader);
  const identity: Identity = edge.gate.verify(textOf(call.metadata, identityHeader), {
    method: identityMethod,
    path: method.path,
    also: coveredInCall({ digest: digestOf(edge.bytesOf(call.request)), commandId, delegation }),
    once: isChange(method.service, method.name),
  });
  const { caller } = identity;
  edge.gate.guard(() => checkCertificate(call, caller));
  const acting = actingOf(caller, method.service, method.name);
  if (acting === undefined) {
    throw new HarrierError("insufficientPermission", `${caller} may not call ${method.service}.${method.name}`);
  }
  const itself = identity.kind === "service";
  if (acting === (itself ? "person" : "itself")) {
    const how = itself ? "for itself" : "for a person";
    throw new HarrierError("insufficientPermission", `${caller} may not call ${method.service}.${method.name} ${how}`);
  }
  Object.assign(
    identity,
    edge.gate.guard(() => (itself ? checkOwn(identity) : personOf(edge, delegation, identity))),
  );
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
  /** It names the span of this call where the call is traced, so that its consequences come behind it. */
  traceparent?: string;
  readonly abort = new AbortController();
  /** Whether the answer was given; after that nothing aborts. */
  answered = false;

  constructor(identity: Identity, deadline: number, commandId: string | undefined) {
    this.principal = identity;
    this.deadline = deadline;
    if (commandId !== undefined) this.commandId = commandId;
    if (identity.traceparent !== undefined) this.traceparent = identity.traceparent;
  }

  /** Runs the call's work in its span. */
  within<T>(span: TracedSpan, work: () => T): T {
    this.traceparent = span.traceparent;
    return span.run(work);
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

/** A service that acts for itself may name no other principal. */
function checkOwn(identity: Identity): Principal {
  if (identity.subject !== identity.caller) throw refused("a service calls in the name of another", identity.caller);
  return identity;
}

/** Answers the principal of the gateway's delegation, with everything that the gateway states about it. */
function personOf(edge: Edge, delegation: string | undefined, identity: Identity): Principal {
  const person = verifyDelegation(edge.keys, delegation, { audience: edge.audience, caller: identity.caller, now: Date.now() });
  if (!isFor(person, identity)) throw refused("the gateway vouches for somebody else, or for another request", identity.caller);
  return person;
}

/** With mutual TLS the name in the certificate must be the caller's. */
function checkCertificate(call: AnyServerCall, caller: ServiceName): void {
  const context = call.getAuthContext();
  if (context.transportSecurityType !== "ssl") return;
  const certificate = context.sslPeerCertificate;
  if (!isCertificateOf(certificate, caller)) throw refused(`certificate of ${namesOf(certificate).join(", ")}`, caller);
}

function textOf(metadata: Metadata, key: string): string | undefined {
  const value = metadata.get(key)[0];
  return value === undefined ? undefined : String(value);
}
