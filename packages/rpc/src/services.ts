import type { MethodDefinition } from "@grpc/proto-loader";
import type { ServiceDefinitions } from "./gen/index.ts";

/** The five processes; also the audience and the caller of a signed identity. */
export type ServiceName = "gateway" | "controller" | "management" | "artifact-store" | "rollout-engine";

/** Full name of a proto service, e.g. `harrier.controller.v1.ActionsService`. */
export type ProtoServiceName = keyof ServiceDefinitions;

// `string extends K` drops the index signature that the generated definitions inherit
type MethodsOf<D> = { [K in keyof D as string extends K ? never : K extends string ? Uncapitalize<K> : never]: D[K] };

/** Definitions of the methods of a service by their JavaScript names (`assignSet`). */
export type Methods<S extends ProtoServiceName> = MethodsOf<ServiceDefinitions[S]>;
export type MethodName<S extends ProtoServiceName> = Extract<keyof Methods<S>, string>;

type Definition<S extends ProtoServiceName, M extends MethodName<S>> = Methods<S>[M];

/** What a caller passes: members may be left out, they arrive with proto3's defaults. */
export type RequestInput<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer I, infer _O, infer _IO, infer _OO> ? I : never;
/** What a handler gets: every member present. */
export type RequestOf<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer _O, infer IO, infer _OO> ? IO : never;
/** What a handler answers. */
export type ResponseInput<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer O, infer _IO, infer _OO> ? O : never;
/** What a caller gets back: every member present. */
export type ResponseOf<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer _O, infer _IO, infer OO> ? OO : never;

/** The process that serves each proto service, hence the audience of the identity that a call carries. */
export const hosts: Readonly<Record<ProtoServiceName, ServiceName>> = {
  "harrier.artifactstore.v1.ArtifactsService": "artifact-store",
  "harrier.controller.v1.ActionsService": "controller",
  "harrier.controller.v1.DeviceIdentityService": "controller",
  "harrier.controller.v1.TargetsService": "controller",
  "harrier.management.v1.CatalogueService": "management",
  "harrier.management.v1.IdentityService": "management",
  "harrier.rolloutengine.v1.RolloutsService": "rollout-engine",
};

export const serviceNames: readonly ServiceName[] = ["gateway", "controller", "management", "artifact-store", "rollout-engine"];
