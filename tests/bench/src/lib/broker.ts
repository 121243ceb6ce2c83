import { type Stack, startStack } from "@harrier/stack";
import { startRabbitMq } from "@harrier/testkit";

type Options = Parameters<typeof startStack>[0];

/** Starts the services with a message broker of their own, which ends with them. It needs Debian, whose packages it unpacks the first time. */
export async function startWithBroker(options: Options): Promise<Stack> {
  const { url, managementUrl, stop } = await startRabbitMq();
  try {
    const stack = await startStack({ ...options, amqp: { url, managementUrl } });
    return {
      ...stack,
      async stop() {
        await stack.stop();
        await stop();
      },
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
