/** How long texts may be, as the contracts say. A browser loads no schema (ADR 53), so that the numbers stand here, and a test compares them. */
export const limits = {
  name: 128,
  description: 512,
  version: 64,
  vendor: 256,
  query: 1_024,
  remark: 255,
  typeKey: 64,
  colour: 16,
  password: 256,
  metadataKey: 128,
  metadataValue: 4_000,
  controllerId: 256,
  group: 256,
  webhookName: 64,
  url: 2_000,
} as const;
