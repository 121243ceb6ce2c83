import { spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePorts } from "@harrier/stack";
import kafkajs from "kafkajs";
import { workspaceRoot } from "../workspace.ts";
import { cached, install } from "./cache.ts";
import { startServer } from "./server-process.ts";

const VERSION = "4.3.1"; // it is the version of recipes/kafka/pom.xml

export interface Kafka {
  /** The value for HARRIER_KAFKA_BROKERS. */
  readonly brokers: string;
  /** Kills it (SIGKILL); its data stays. */
  kill(): Promise<void>;
  /** Starts it again on the same port with the same data. */
  restart(): Promise<void>;
  stop(): Promise<void>;
}

/** Answers the folder with the broker's jars; Maven downloads them once (44 MB), and they are kept in the cache. It needs Java 17 and Maven. */
export function installKafka(): Promise<string> {
  return cached(`kafka-${VERSION}`, async (dir) => {
    // Maven writes beside the pom, which must not be the checkout
    copyFileSync(join(workspaceRoot, "packages", "testkit", "recipes", "kafka", "pom.xml"), join(dir, "pom.xml"));
    const jars = join(dir, "jars");
    await install("mvn", ["-q", "-B", "-f", join(dir, "pom.xml"), "dependency:copy-dependencies", `-DoutputDirectory=${jars}`]);
    return jars;
  });
}

function writeConfig(dir: string, port: number, controllerPort: number): { config: string; logging: string } {
  const config = join(dir, "server.properties");
  // one node is broker and controller; every internal topic has one partition and one copy
  const lines = {
    "process.roles": "broker,controller",
    "node.id": 1,
    "controller.quorum.voters": `1@127.0.0.1:${controllerPort}`,
    "controller.listener.names": "CONTROLLER",
    listeners: `PLAINTEXT://127.0.0.1:${port},CONTROLLER://127.0.0.1:${controllerPort}`,
    "advertised.listeners": `PLAINTEXT://127.0.0.1:${port}`,
    "listener.security.protocol.map": "PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT",
    "log.dirs": join(dir, "data"),
    "num.partitions": 1,
    "offsets.topic.num.partitions": 1,
    "offsets.topic.replication.factor": 1,
    "transaction.state.log.num.partitions": 1,
    "transaction.state.log.replication.factor": 1,
    "transaction.state.log.min.isr": 1,
    "share.coordinator.state.topic.replication.factor": 1,
    "share.coordinator.state.topic.min.isr": 1,
    "group.initial.rebalance.delay.ms": 0,
    // after a kill the node must first lose its former session
    "broker.session.timeout.ms": 2_000,
    "broker.heartbeat.interval.ms": 500,
  };
  const text = Object.entries(lines).map(([name, value]) => `${name}=${value}\n`);
  writeFileSync(config, text.join(""));
  const logging = join(dir, "log4j2.properties");
  writeFileSync(
    logging,
    `rootLogger.level=WARN
rootLogger.appenderRefs=stdout
rootLogger.appenderRef.stdout.ref=STDOUT
appender.console.type=Console
appender.console.name=STDOUT
appender.console.layout.type=PatternLayout
appender.console.layout.pattern=[%d] %p %m (%c)%n
`,
  );
  return { config, logging };
}

async function answers(brokers: string): Promise<boolean> {
  const client = new kafkajs.Kafka({
    clientId: "harrier-testkit",
    brokers: [brokers],
    logLevel: kafkajs.logLevel.NOTHING,
    retry: { retries: 0 },
    connectionTimeout: 2_000,
  });
  const admin = client.admin();
  try {
    await admin.connect();
    // its port is open before it knows that it is the cluster
    return (await admin.describeCluster()).brokers.length === 1;
  } catch {
    return false;
  } finally {
    await admin.disconnect().catch(() => undefined);
  }
}

/** Starts a real Kafka (KRaft, one node) without topics. */
export async function startKafka(): Promise<Kafka> {
  const jars = await installKafka();
  const dir = mkdtempSync(join(tmpdir(), "harrier-kafka-"));
  const [port = 0, controllerPort = 0] = await freePorts(2);
  const brokers = `127.0.0.1:${port}`;
  const { config, logging } = writeConfig(dir, port, controllerPort);
  // the settings are for a small heap and a quick start, because the broker of a test transfers little
  const java = [
    "-Xms128m",
    "-Xmx384m",
    "-XX:+UseSerialGC",
    "-XX:TieredStopAtLevel=1",
    `-Dlog4j2.configurationFile=${logging}`,
    "-cp",
    join(jars, "*"),
  ];
  const format = ["kafka.tools.StorageTool", "format", `--cluster-id=${randomBytes(16).toString("base64url")}`, "-c", config];
  const formatted = spawnSync("java", [...java, ...format], { encoding: "utf8" });
  if (formatted.status !== 0) throw new Error(`Kafka's storage: ${formatted.error?.message ?? formatted.stderr + formatted.stdout}`);
  const start = () =>
    startServer({
      name: "Kafka",
      command: "java",
      args: [...java, "kafka.Kafka", config],
      cwd: dir,
      isReady: () => answers(brokers),
      limitMs: 90_000,
    });
  let server = await start();
  return {
    brokers,
    kill: () => server.stop("SIGKILL"),
    async restart() {
      await server.stop();
      server = await start();
    },
    async stop() {
      await server.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
