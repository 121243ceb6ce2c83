import { ConfigError, type ConfigOf, loadConfig, port } from "@harrier/service";
import { z } from "zod";
import type { S3Settings } from "./storage/s3.ts";

/** The settings of artifact-store. Nothing else in the service reads the environment. */
const settings = z.object({
  HARRIER_HTTP_PORT: port.default(8083),
  HARRIER_GRPC_PORT: port.default(9083),
  HARRIER_DATABASE_URL: z.string().min(1),
  HARRIER_IDENTITY_KEYS: z.string().min(1),
  /** 32 bytes in base64, which no other service has: they sign the anchors of the other services' audit trails. Without them none is signed. */
  HARRIER_AUDIT_KEY: z
    .string()
    .regex(/^[A-Za-z0-9+/]{43}=$/, "32 bytes in base64")
    .optional(),
  HARRIER_CONTROLLER_GRPC: z.string().min(1),
  HARRIER_MANAGEMENT_GRPC: z.string().min(1),
  /** The directory that all replicas share. Either this or the bucket (`HARRIER_S3_…`) must be given. */
  HARRIER_STORAGE_DIR: z.string().min(1).optional(),
  /** The bytes that uploads leave free on the directory's disk: by default 1 GiB, or 5 % of a disk below 20 GiB; 0 means no reserve. */
  HARRIER_STORAGE_RESERVE: z.coerce.number().int().min(0).optional(),
  /** Files that no artifact has any more are kept for so many days: longer than backups of the database. 0 removes them at once. */
  HARRIER_ARTIFACT_KEEP_DAYS: z.coerce.number().min(0).max(3_650).default(0),
  /** `main.js scrub` reads at most so many MiB per second. */
  HARRIER_SCRUB_MIB_PER_SECOND: z.coerce.number().positive().default(50),
  HARRIER_S3_ENDPOINT: z.url().optional(),
  HARRIER_S3_ACCESS_KEY: z.string().optional(),
  HARRIER_S3_SECRET_KEY: z.string().optional(),
  HARRIER_S3_BUCKET: z.string().optional(),
  /** The address at which devices reach the store. Where it is given, a tenant's `artifact.links.presigned` sends devices there. */
  HARRIER_S3_PUBLIC_ENDPOINT: z.url({ protocol: /^https?$/ }).optional(),
  /** A link into the bucket is good for so many seconds; what has begun by then goes on. */
  HARRIER_S3_LINK_SECONDS: z.coerce.number().int().min(1).max(3_600).default(60),
  /** Every service accepts this setting; artifact-store ignores it, because it emits no events. */
  HARRIER_KAFKA_BROKERS: z.string().optional(),
});

export type ArtifactStoreConfig = ConfigOf<typeof settings.shape> & { readonly storage: StorageSettings };
export type StorageSettings = DirectorySettings | ({ readonly kind: "s3" } & S3Settings);

export interface DirectorySettings {
  readonly kind: "directory";
  readonly path: string;
  readonly reserveBytes: number | undefined;
}

export function readConfig(env: NodeJS.ProcessEnv = process.env): ArtifactStoreConfig {
  const config = loadConfig(settings, env);
  return { ...config, storage: storageOf(config) };
}

function storageOf(config: ConfigOf<typeof settings.shape>): StorageSettings {
  const {
    HARRIER_STORAGE_DIR: path,
    HARRIER_STORAGE_RESERVE: reserveBytes,
    HARRIER_S3_ENDPOINT: endpoint,
    HARRIER_S3_ACCESS_KEY: accessKey,
    HARRIER_S3_SECRET_KEY: secretKey,
    HARRIER_S3_BUCKET: bucket,
    HARRIER_S3_PUBLIC_ENDPOINT: publicEndpoint,
  } = config;
  const s3 = [endpoint, accessKey, secretKey, bucket, publicEndpoint];
  if (path !== undefined && s3.every((value) => value === undefined)) return { kind: "directory", path, reserveBytes };
  if (path !== undefined) throw new ConfigError("HARRIER_STORAGE_DIR and HARRIER_S3_* are both given: keep one");
  if (endpoint === undefined || accessKey === undefined || secretKey === undefined || bucket === undefined) {
    throw new ConfigError("HARRIER_STORAGE_DIR, or all of HARRIER_S3_ENDPOINT, _ACCESS_KEY, _SECRET_KEY and _BUCKET, must be given");
  }
  return { kind: "s3", endpoint, accessKey, secretKey, bucket, ...(publicEndpoint !== undefined && { publicEndpoint }) };
}
