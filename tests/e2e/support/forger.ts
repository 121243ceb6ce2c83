import { randomUUID } from "node:crypto";
import {
  actingOf,
  callers,
  coveredInCall,
  delegationFor,
  digestOf,
  hosts,
  type Identity,
  identityHeader,
  identityHeaders,
  type KeySet,
  keysOfMetadata,
  methods,
  onBehalfHeader,
  type Principal,
  type ProtoServiceName,
  type RpcTls,
  type ServiceName,
  serviceNames,
  servicePrincipal,
  signIdentity,
} from "@harrier/rpc";
import type { Stack } from "@harrier/stack";
import { expect } from "vitest";
import { callOnTheWire, grpcStatus, type WireAnswer } from "./grpc-wire.ts";
import { administrator, identityOf, keysOf } from "./identity.ts";
import { replicaOf } from "./replicas.ts";

export const protoServices = Object.keys(callers) as ProtoServiceName[];
export const methodsOf = (service: ProtoServiceName): string[] => Object.keys(methods[service]);
export const pathOf = (service: string, method: string): string => `/${service}/${method.charAt(0).toUpperCase()}${method.slice(1)}`;

export interface Forged {
  readonly caller: ServiceName;
  readonly keys?: KeySet;
  /** The certificate that is shown at the handshake; by default that of `caller`. */
  readonly tls?: Partial<RpcTls>;
  /** The principal in whose name the call is made; without it the caller acts for itself. */
  readonly person?: Principal;
  readonly delegation?: string;
  readonly headers?: Record<string, string>;
  readonly changed?: Partial<Identity>;
}

/** The answer to a call that the table does not list. */
export const notAllowed = { status: grpcStatus.permissionDenied, code: "insufficientPermission" };
/** The answer to a call whose caller is not verified. */
export const refused = { status: grpcStatus.unauthenticated, code: "identityRefused" };

const noDigest = digestOf(Buffer.alloc(0));

/** Puts a key ring under the name of another pair. */
export const renamed = (pair: `${ServiceName}/${ServiceName}`, keyRing: unknown): KeySet => new Map([[pair, keyRing]]) as unknown as KeySet;

/** Makes calls between the services of a stack, with the keys of any of them and in the name of any of them. */
export class Forger {
  readonly keys: KeySet;
  readonly #stack: Stack;
  readonly #tlsOf: ((service: ServiceName) => RpcTls) | undefined;

  /** `tlsOf` returns the certificates of the services, where they use TLS. */
  constructor(stack: Stack, tlsOf?: (service: ServiceName) => RpcTls) {
    this.#stack = stack;
    this.#tlsOf = tlsOf;
    this.keys = keysOf(stack);
  }

  /** Makes the delegation for a principal, as the service gets it from the gateway with a request. */
  delegationOf(person: Principal, holder: ServiceName, audience: ServiceName, rid = "e2e"): string | undefined {
    // the gateway delegates to those that it forwards to
    if (holder === "gateway" || !this.keys.has(`gateway/${holder}`)) return undefined;
    const headers = identityHeaders(this.keys, identityOf(person, { audience: holder, method: "GET", path: "/", rid }));
    const payload = headers[identityHeader].split(".")[3] as string;
    return delegationFor(audience, { payload, delegations: headers[onBehalfHeader] ?? "" });
  }

  /** Makes the metadata of a call with an empty message, signed by `caller` with the keys that it has. */
  metadataOf(service: ProtoServiceName, method: string, forged: Forged): Record<string, string> {
    const { caller, person, changed = {} } = forged;
    const audience = hosts[service];
    const delegation = forged.delegation ?? (person === undefined ? undefined : this.delegationOf(person, caller, audience));
    const commandId = randomUUID();
    const principal = person ?? servicePrincipal(caller, { id: 1, name: "DEFAULT" });
    const identity = {
      ...identityOf(principal, { audience, method: "GRPC", path: pathOf(service, method), caller }),
      nonce: randomUUID(),
      ...changed,
    };
    const token = signIdentity(forged.keys ?? this.keys, identity, coveredInCall({ digest: noDigest, commandId, delegation }));
    return {
      [identityHeader]: token,
      [keysOfMetadata.commandId]: commandId,
      ...(delegation === undefined ? {} : { [onBehalfHeader]: delegation }),
      ...forged.headers,
    };
  }

  /** Makes a properly signed call by `caller`, whatever the table says about it. */
  callAs(service: ProtoServiceName, method: string, forged: Forged): Promise<WireAnswer> {
    const port = replicaOf(this.#stack, hosts[service]).grpcPort as number;
    const place = { port, tls: forged.tls ?? this.#tlsOf?.(forged.caller) };
    return callOnTheWire(place, pathOf(service, method), this.metadataOf(service, method, forged));
  }

  /** `holder` calls under its own name, with its own keys only: for itself and for a principal, the outcome must be what the table says. */
  async checkAgainstTable(holder: ServiceName, service: ProtoServiceName, method: string): Promise<void> {
    const own = keysOf(this.#stack, holder);
    if (!own.has(`${holder}/${hosts[service]}`)) return;
    const acting = actingOf(holder, service, method);
    for (const person of [undefined, administrator]) {
      const may = acting === "either" || acting === (person === undefined ? "itself" : "person");
      const answer = await this.callAs(service, method, { caller: holder, keys: own, ...(person && { person }) });
      const shown = `${holder} for ${person === undefined ? "itself" : "a person"}: ${JSON.stringify(answer)}`;
      if (may) expect([grpcStatus.permissionDenied, grpcStatus.unauthenticated], shown).not.toContain(answer.status);
      else expect([notAllowed.code, refused.code], shown).toContain(answer.code);
    }
  }

  /**
   * `holder` calls under every name that it has no key for, its own included, with each of its keys in place of the right one, and with its own
   * certificate.
   */
  async checkOtherNames(holder: ServiceName, service: ProtoServiceName): Promise<void> {
    const method = methodsOf(service)[0] as string;
    const tls = this.#tlsOf?.(holder);
    const own = keysOf(this.#stack, holder);
    for (const claimed of serviceNames) {
      const pair = `${claimed}/${hosts[service]}` as const;
      if (claimed === holder && own.has(pair)) continue;
      for (const keyRing of own.values()) {
        const answer = await this.callAs(service, method, { caller: claimed, keys: renamed(pair, keyRing), ...(tls && { tls }) });
        expect(answer, `${holder} as ${claimed}`).toEqual(refused);
      }
    }
  }
}
