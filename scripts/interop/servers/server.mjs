// A server on the official JavaScript SDK, for our client to be tried against.
//
// usage: A2A_JS_MODULES=DIR node server.mjs PORT GRPC_PORT. JSON-RPC at the root, HTTP+JSON under /rest, gRPC on
// its own port, all on loopback. The prefix of a message's id, or of its text, says what the agent does. Ends on SIGTERM.
import { createRequire } from 'node:module';
import { pathToFileURL } from 'node:url';
import path from 'node:path';

const modules = createRequire(path.join(process.env.A2A_JS_MODULES, 'package.json'));
// As ES modules, so that each entry point of the SDK shares its classes with the others.
const load = async (name) => import(pathToFileURL(modules.resolve(name)).href);
const { TaskState, Role } = await load('@a2a-js/sdk');
const {
  AgentEvent, DefaultExecutionEventBusManager, DefaultPushNotificationSender, DefaultRequestHandler,
  InMemoryPushNotificationStore, InMemoryTaskStore,
} = await load('@a2a-js/sdk/server');
const { UserBuilder, agentCardHandler, jsonRpcHandler, restHandler } = await load('@a2a-js/sdk/server/express');
const { A2AService, grpcService } = await load('@a2a-js/sdk/server/grpc');
const { default: express } = await load('express');
const grpc = modules('@grpc/grpc-js');

const [port, grpcPort] = process.argv.slice(2).map(Number);
const base = `http://127.0.0.1:${port}`;
const sleep = (ms) => new Promise((wake) => setTimeout(wake, ms));

const part = ($case, value, more = {}) =>
  ({ content: { $case, value }, metadata: undefined, filename: '', mediaType: '', ...more });
const file = { filename: 'output.txt', mediaType: 'text/plain' };
const artifacts = {
  'tck-artifact-text': part('text', 'Generated text content'),
  'tck-artifact-file-url': part('url', 'https://example.com/output.txt', file),
  'tck-artifact-file': part('raw', Buffer.from('output'), file),
  'tck-artifact-data': part('data', { key: 'value', count: 42 }),
  'tck-stream-001': part('text', 'Stream hello from TCK'),
  'tck-stream-003': part('text', 'Stream task lifecycle'),
  'tck-stream-artifact-text': part('text', 'Streamed text content'),
};
const prefixes = Object.keys(artifacts).sort((a, b) => b.length - a.length);

const cancelled = new Set();
const executor = {
  async execute({ taskId, contextId, userMessage, task }, bus) {
    // Not every client chooses its ids.
    const text = userMessage.parts.find((part) => part.content?.$case === 'text')?.content.value ?? '';
    const asked = /^(tck|test)-/.test(userMessage.messageId) ? userMessage.messageId : text;
    const said = (text) => ({
      messageId: `${asked}-answer`, role: Role.ROLE_AGENT, parts: [part('text', text)], taskId, contextId,
      metadata: undefined, extensions: [], referenceTaskIds: [],
    });
    const status = (state, message) => ({ state, message, timestamp: new Date().toISOString() });
    const update = (state, message) =>
      bus.publish(AgentEvent.statusUpdate({ taskId, contextId, status: status(state, message), metadata: undefined }));
    const artifact = (artifactId, parts, append, lastChunk) =>
      bus.publish(AgentEvent.artifactUpdate({
        taskId, contextId, append, lastChunk, metadata: undefined,
        artifact: { artifactId, name: '', description: '', parts, metadata: undefined, extensions: [] },
      }));

    if (asked.startsWith('tck-message-response')) {
      bus.publish(AgentEvent.message({ ...said('Direct message response'), taskId: '' }));
      bus.finished();
      return;
    }
    const opened = { id: taskId, contextId, status: status(TaskState.TASK_STATE_SUBMITTED), artifacts: [], history: [userMessage] };
    bus.publish(AgentEvent.task(task ?? { ...opened, metadata: undefined }));
    const prefix = prefixes.find((prefix) => asked.startsWith(prefix));
    if (asked.startsWith('tck-input-required')) {
      update(TaskState.TASK_STATE_INPUT_REQUIRED, said('What else?'));
    } else if (asked.startsWith('tck-reject-task')) {
      update(TaskState.TASK_STATE_REJECTED, said('rejected'));
    } else if (asked.startsWith('tck-task-failure')) {
      update(TaskState.TASK_STATE_FAILED, said('it went wrong'));
    } else if (asked.startsWith('tck-cancel') || asked.startsWith('test-resubscribe-message-id')) {
      update(TaskState.TASK_STATE_WORKING);
      const pauses = asked.startsWith('tck-cancel') ? 300 : 40;
      for (let n = 0; n < pauses && !cancelled.has(taskId); n++) await sleep(100);
      update(cancelled.has(taskId) ? TaskState.TASK_STATE_CANCELED : TaskState.TASK_STATE_COMPLETED);
    } else if (asked.startsWith('tck-stream-artifact-chunked')) {
      update(TaskState.TASK_STATE_WORKING);
      artifact('chunks', [part('text', 'chunk-1 ')], false, false);
      artifact('chunks', [part('text', 'chunk-2')], true, true);
      update(TaskState.TASK_STATE_COMPLETED);
    } else if (prefix) {
      update(TaskState.TASK_STATE_WORKING);
      artifact('artifact', [artifacts[prefix]], false, true);
      update(TaskState.TASK_STATE_COMPLETED);
    } else {
      update(TaskState.TASK_STATE_COMPLETED, said('Hello from TCK'));
    }
    bus.finished();
  },
  async cancelTask(taskId) {
    cancelled.add(taskId);
  },
};

const interfaceAt = (protocolBinding, url) => ({ url, protocolBinding, protocolVersion: '1.0', tenant: '' });
const card = {
  name: 'official JavaScript SDK',
  description: 'What the official SDK makes of an agent.',
  version: '1.0.0',
  capabilities: { streaming: true, pushNotifications: true, extendedAgentCard: true, extensions: [] },
  defaultInputModes: ['text/plain', 'application/json'],
  defaultOutputModes: ['text/plain', 'application/json'],
  skills: [{
    id: 'echo', name: 'echo', description: 'Does what the id says.', tags: ['test'],
    examples: [], inputModes: [], outputModes: [], securityRequirements: [],
  }],
  supportedInterfaces: [
    interfaceAt('JSONRPC', base), interfaceAt('HTTP+JSON', `${base}/rest`), interfaceAt('GRPC', `127.0.0.1:${grpcPort}`),
  ],
  securitySchemes: {}, securityRequirements: [], signatures: [],
};

const webhooks = new InMemoryPushNotificationStore();
const requestHandler = new DefaultRequestHandler(
  card, new InMemoryTaskStore(), executor, new DefaultExecutionEventBusManager(),
  webhooks, new DefaultPushNotificationSender(webhooks), card,
);
const userBuilder = UserBuilder.noAuthentication;

const server = new grpc.Server();
server.addService(A2AService, grpcService({ requestHandler, userBuilder }));
await new Promise((bound, failed) =>
  server.bindAsync(`127.0.0.1:${grpcPort}`, grpc.ServerCredentials.createInsecure(), (error) => (error ? failed(error) : bound())));

const app = express();
app.use('/.well-known/agent-card.json', agentCardHandler({ agentCardProvider: requestHandler }));
app.use('/rest', restHandler({ requestHandler, userBuilder }));
app.use(jsonRpcHandler({ requestHandler, userBuilder }));
app.listen(port, '127.0.0.1');
process.on('SIGTERM', () => process.exit(0));
