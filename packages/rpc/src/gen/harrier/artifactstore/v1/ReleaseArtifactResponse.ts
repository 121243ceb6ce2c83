// Generated from protos/harrier/artifactstore/v1/artifacts.proto by packages/rpc/scripts/generate.mjs

export type ReleaseArtifactResponseInput = Record<string, never>;

export type ReleaseArtifactResponse = Record<string, never>;
