#!/usr/bin/env node
// The client of the official JavaScript SDK against `sut`, over every binding that its card
// names and the client speaks.
//
// usage: client.mjs BASE_URL, with the packages in $A2A_JS_MODULES. Prints a line a check and
// "N passed, N failed" at the end; exit status 1 if one failed. Which checks apply follows from
// the card that the server shows.
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import { deepStrictEqual as same } from 'node:assert';

const require = createRequire(`${process.env.A2A_JS_MODULES}/package.json`);
const sdk = require('@a2a-js/sdk');
const {
  ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory, RestTransportFactory,
} = require('@a2a-js/sdk/client');
const { GrpcTransportFactory } = require('@a2a-js/sdk/client/grpc');

const REQUIRED = 'urn:a2a:tck:required-extension';
const card = await new DefaultAgentCardResolver().resolve(process.argv[2]);
const caps = card.capabilities ?? {};
const required = (caps.extensions ?? []).some((e) => e.uri === REQUIRED && e.required);
const factories = {
  JSONRPC: JsonRpcTransportFactory, 'HTTP+JSON': RestTransportFactory, GRPC: GrpcTransportFactory,
};
same(card.supportedInterfaces.map((i) => i.protocolBinding), Object.keys(factories));
let client;

const state = (status) => sdk.taskStateToJSON(status.state);
const frame = (event) => event.payload?.$case;
const body = (event) => event.payload.value;
const text = (part) => sdk.Part.toJSON(part).text;

function ask(kind, { now, ...members } = {}) {
  return sdk.SendMessageRequest.fromJSON({
    message: {
      messageId: `${kind}-${randomUUID()}`,
      role: 'ROLE_USER',
      parts: [{ text: 'hello' }],
      ...members,
    },
    configuration: { returnImmediately: now ?? false },
  });
}

async function read(stream) {
  const events = [];
  for await (const event of stream) events.push(event);
  return events;
}

async function refused(name, promise) {
  let got;
  try {
    got = await promise;
  } catch (error) {
    const names = [error.name, error.constructor?.name, error.cause?.name];
    if (names.includes(name)) return;
    throw new Error(`expected ${name}, got ${names.join(', ')}: ${error.message}`);
  }
  throw new Error(`expected ${name}, got an answer: ${JSON.stringify(got)}`);
}

const send = (kind, members) => client.sendMessage(ask(kind, members));
const get = (id) => client.getTask(sdk.GetTaskRequest.fromJSON({ id }));
const watch = (id) => read(client.resubscribeTask(sdk.SubscribeToTaskRequest.fromJSON({ id })));
const cancel = (id) => client.cancelTask(sdk.CancelTaskRequest.fromJSON({ id }));

const plain = !required;
const streams = plain && caps.streaming;
const checks = [
  [plain, async function aTaskCompletes() {
    const task = await send('tck-complete-task');
    same(state(task.status), 'TASK_STATE_COMPLETED');
    same(text(task.status.message.parts[0]), 'Hello from TCK');
  }],
  [plain, async function aMessageAnswers() {
    const message = await send('tck-message-response');
    same(text(message.parts[0]), 'Direct message response');
  }],
  [plain, async function aConversationGoesOn() {
    const task = await send('tck-input-required');
    const done = await send('tck-complete-task', { taskId: task.id });
    same([done.id, done.contextId, state(done.status)],
      [task.id, task.contextId, 'TASK_STATE_COMPLETED']);
  }],
  [streams, async function chunksFold() {
    const events = await read(client.sendMessageStream(ask('tck-stream-artifact-chunked')));
    same(frame(events[0]), 'task');
    const chunks = events.filter((e) => frame(e) === 'artifactUpdate').map(body);
    same(chunks.map((c) => [c.append, c.lastChunk]), [[false, false], [true, true]]);
    const stored = await get(body(events[0]).id);
    same(stored.artifacts.map((a) => a.parts.map(text).join('')), ['chunk-1 chunk-2']);
  }],
  [streams, async function twoWatchersSeeTheEnd() {
    const task = await send('test-resubscribe-message-id', { now: true });
    const both = await Promise.all([watch(task.id), watch(task.id)]);
    same(both.map((events) => state(body(events.at(-1)).status)),
      ['TASK_STATE_COMPLETED', 'TASK_STATE_COMPLETED']);
    await refused('UnsupportedOperationError', watch(task.id));
  }],
  [plain, async function cancelling() {
    const task = await send('test-resubscribe-message-id', { now: true });
    same(state((await cancel(task.id)).status), 'TASK_STATE_CANCELED');
    const done = await send('tck-complete-task');
    await refused('TaskNotCancelableError', cancel(done.id));
  }],
  [plain, async function refusalsHaveTheirOwnErrors() {
    await refused('TaskNotFoundError', get('no-such-task'));
    const done = await send('tck-complete-task');
    await refused('UnsupportedOperationError', send('tck-complete-task', { taskId: done.id }));
    await refused('ContentTypeNotSupportedError', send('tck-complete-task',
      { parts: [{ raw: 'eA==', mediaType: 'application/x-unsupported-tck-type' }] }));
    await refused('VersionNotSupportedError', client.transport.sendMessage(
      ask('tck-complete-task'), { serviceParameters: { 'A2A-Version': '99.0' } }));
  }],
  [required, async function aRequiredExtensionIsRequired() {
    await refused('ExtensionSupportRequiredError', send('tck-complete-task'));
    const task = await client.sendMessage(ask('tck-complete-task'),
      { serviceParameters: { 'A2A-Extensions': REQUIRED } });
    same(state(task.status), 'TASK_STATE_COMPLETED');
  }],
];

let passed = 0;
let failed = 0;
for (const [binding, Factory] of Object.entries(factories)) {
  client = await new ClientFactory({
    transports: [new Factory()],
    preferredTransports: [binding],
  }).createFromAgentCard(card);
  for (const [applies, run] of checks) {
    if (!applies) continue;
    try {
      await run();
      passed += 1;
      console.log('ok     javascript', binding, run.name);
    } catch (error) {
      failed += 1;
      console.log('FAILED javascript', binding, run.name, '--', error.message);
    }
  }
}
console.log(`javascript: ${passed} passed, ${failed} failed`);
process.exit(failed || !passed ? 1 : 0);
