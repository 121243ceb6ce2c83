import { type Stack, startStack } from "@harrier/stack";
import { startMinio } from "@harrier/testkit";

type Options = Parameters<typeof startStack>[0];

/**
 * Starts the services with their artifacts in an S3 server of their own, which ends with them. The first time it is built from source, which needs
 * Go.
 */
export async function startWithBucket(options: Options): Promise<Stack> {
  const minio = await startMinio();
  try {
    const { endpoint, accessKey, secretKey } = minio;
    const stack = await startStack({ ...options, s3: { endpoint, accessKey, secretKey, bucket: "harrier-bench" } });
    return {
      ...stack,
      async stop() {
        await stack.stop();
        await minio.stop();
      },
    };
  } catch (error) {
    await minio.stop();
    throw error;
  }
}
