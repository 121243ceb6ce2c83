export {
  type Admin,
  type AdminOptions,
  type Created,
  type CreatedTarget,
  createAdmin,
  type RolloutView,
  uniqueName,
} from "./builders/admin.ts";
export { createDevice, type Deployment, type DeploymentArtifact, type Device, type DeviceOptions, type Poll } from "./builders/device.ts";
export { type Answer, basic, type Call, send, succeeded } from "./builders/http.ts";
export { type FilePart, multipart, slowForm } from "./builders/multipart.ts";
export { hasCursor, type PageCost, pageCost, pagedLists, pathOfList, sortsOf, walked } from "./database/counting.ts";
export { type RoundTripCounter, startRoundTripCounter } from "./database/round-trips.ts";
export { testPasswords, withClient, withSharedClient } from "./database/template.ts";
export { auditTables, dumpTenants, movingTables, outlivingTables, type TenantDump } from "./database/tenant-dump.ts";
export { type TestDatabase, type TestDatabaseOptions, testDatabase } from "./database/test-database.ts";
export { eventually } from "./eventually.ts";
export { Authorities, type Authority, fingerprintOf, type Pair } from "./real/authority.ts";
export { type Chromium, installChromium } from "./real/chromium.ts";
export { type CollectedSpan, type Collector, startCollector } from "./real/collector.ts";
export { type DebianFiles, debianPackages } from "./real/debian.ts";
export { type FakeClock, startFakeClock } from "./real/fake-clock.ts";
export { type FaultyStore, type StoreFault, startFaultyStore } from "./real/faulty-store.ts";
export { type HawkbitDmf, type HawkbitDmfLine, startHawkbitDmf } from "./real/hawkbit-dmf.ts";
export { type Kafka, startKafka } from "./real/kafka.ts";
export { type ApiServer, startApiServer } from "./real/kubernetes-server.ts";
export {
  chartFolder,
  complaintsOfGrafana,
  conform,
  customDefinitions,
  goModule,
  helm,
  installHelm,
  kubernetesVersion,
  type Manifest,
  parseManifests,
  renderChart,
} from "./real/kubernetes-tools.ts";
export { type Minio, startMinio } from "./real/minio.ts";
export { type Nginx, type NginxOptions, type ProxiedRequest, startNginx } from "./real/nginx.ts";
export { npmClient } from "./real/npm-client.ts";
export { type OidcProvider, type OidcProviderOptions, type OidcUser, oidcClientId, startOidcProvider } from "./real/oidc-provider.ts";
export { pythonPackages } from "./real/python.ts";
export { type PythonClient, type PythonPackage, pythonClient } from "./real/python-client.ts";
export { installRabbitMq, type RabbitMq, startRabbitMq } from "./real/rabbitmq.ts";
export { mountSmallDisk, type SmallDisk } from "./real/small-disk.ts";
export { startTestStack, type TestStackOptions, twoOfEach } from "./real/stack.ts";
export { installSwupdate, type Swupdate, type SwupdateOptions, startSwupdate } from "./real/swupdate.ts";
export { downloadZchunk, makeZchunk, type Zchunk } from "./real/zchunk.ts";
export { workspaceRoot } from "./workspace.ts";
