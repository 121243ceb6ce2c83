import type { MethodDefinition } from "@grpc/proto-loader";
import type { ServiceDefinitions } from "./gen/index.ts";

/** The processes, which are the audience and the caller of a signed identity. */
export type ServiceName = "gateway" | "controller" | "management" | "artifact-store" | "rollout-engine" | "dmf";

/** The full name of a proto service, e.g. `harrier.controller.v1.ActionsService`. */
export type ProtoServiceName = keyof ServiceDefinitions;

// `string extends K` drops the index signature that the generated definitions inherit
type MethodsOf<D> = { [K in keyof D as string extends K ? never : K extends string ? Uncapitalize<K> : never]: D[K] };

/** The definitions of the methods of a service by their JavaScript names (`assignSet`). */
export type Methods<S extends ProtoServiceName> = MethodsOf<ServiceDefinitions[S]>;
export type MethodName<S extends ProtoServiceName> = Extract<keyof Methods<S>, string>;

type Definition<S extends ProtoServiceName, M extends MethodName<S>> = Methods<S>[M];

/** A caller may leave members out; they arrive with proto3's defaults. */
export type RequestInput<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer I, infer _O, infer _IO, infer _OO> ? I : never;
/** A handler gets every member. */
export type RequestOf<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer _O, infer IO, infer _OO> ? IO : never;
/** A handler may leave members out of its answer. */
export type ResponseInput<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer O, infer _IO, infer _OO> ? O : never;
/** A caller gets every member of the answer. */
export type ResponseOf<S extends ProtoServiceName, M extends MethodName<S>> =
  Definition<S, M> extends MethodDefinition<infer _I, infer _O, infer _IO, infer OO> ? OO : never;

/** The process that serves each proto service, which is the audience of the identity that a call carries. */
export const hosts: Readonly<Record<ProtoServiceName, ServiceName>> = {
  "harrier.artifactstore.v1.ArtifactsService": "artifact-store",
  "harrier.controller.v1.ActionsService": "controller",
  "harrier.controller.v1.DeviceIdentityService": "controller",
  "harrier.controller.v1.DeviceMessagesService": "controller",
  "harrier.controller.v1.TargetsService": "controller",
  "harrier.management.v1.CatalogueService": "management",
  "harrier.management.v1.IdentityService": "management",
  "harrier.rolloutengine.v1.RolloutsService": "rollout-engine",
};

export const serviceNames: readonly ServiceName[] = ["gateway", "controller", "management", "artifact-store", "rollout-engine", "dmf"];
