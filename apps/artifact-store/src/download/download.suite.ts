import { form, type RunningService, startService } from "../service.suite.ts";
import { randomContent } from "../testing.suite.ts";

export const name = "fw ä.bin";
export const content = randomContent(2_000_000);

/** Returns both shapes of links to the same file (contract device.md §2.3). */
export const shapes = (device: string, file = name, module = 11): [string, string] => [
  `/DEFAULT/controller/v1/${device}/softwaremodules/${module}/artifacts/${encodeURIComponent(file)}`,
  `/api/v1/DEFAULT/download/controller/${device}/softwaremodules/${module}/filename/${encodeURIComponent(file)}`,
];

/** Starts the service with this file in module 11, which the device `open` may download. */
export async function serveFile(): Promise<{ service: RunningService; artifactId: number }> {
  const service = await startService();
  const body = form({ name: "file", filename: name, body: content.bytes });
  const answer = await service.call("POST", "/rest/v1/softwaremodules/11/artifacts", body);
  return { service, artifactId: answer.json()["id"] as number };
}
