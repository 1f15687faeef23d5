#!/usr/bin/env python3
"""The client of the official Python SDK against `sut`, over every binding that its card names and the client speaks.

usage: client.py BASE_URL. Prints a line a check and "N passed, N failed" at the end; exit status 1
if one failed. Which checks apply follows from the card that the server shows.
"""

import asyncio
import sys
import uuid

import grpc
import httpx
from a2a.client import A2ACardResolver, ClientCallContext, ClientConfig, ClientFactory
from a2a.types import (
    CancelTaskRequest,
    GetTaskRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskState,
)
from a2a.utils import errors

REQUIRED = 'urn:a2a:tck:required-extension'
BINDINGS = ['JSONRPC', 'HTTP+JSON', 'GRPC']
CHECKS = []


def check(when=lambda caps, required: not required):
    def keep(function):
        CHECKS.append((function, when))
        return function

    return keep


def streams(caps, required):
    return caps.streaming and not required


def same(got, want, what):
    if got != want:
        raise AssertionError(f'{what}: got {got!r}, expected {want!r}')


def ask(kind, text='hello', now=False, **members):
    message = Message(
        message_id=f'{kind}-{uuid.uuid4().hex}', role=Role.ROLE_USER, parts=[Part(text=text)], **members
    )
    return SendMessageRequest(
        message=message, configuration=SendMessageConfiguration(return_immediately=now)
    )


def frames(events):
    return [event.WhichOneof('payload') for event in events]


def last_state(events):
    last = events[-1]
    status = last.task.status if last.HasField('task') else last.status_update.status
    return TaskState.Name(status.state)


async def refused(error, awaitable):
    try:
        got = await awaitable
    except error:
        return
    raise AssertionError(f'expected {error.__name__}, got {got!r}')


class Peer:
    """One client that asks for single answers, one that asks for streams."""

    def __init__(self, card, http, binding):
        def client(streaming):
            config = ClientConfig(
                streaming=streaming,
                httpx_client=http,
                grpc_channel_factory=grpc.aio.insecure_channel,
                supported_protocol_bindings=[binding],
            )
            return ClientFactory(config).create(card)

        self.card, self.once, self.streaming = card, client(False), client(True)

    async def send(self, request, **more):
        events = [event async for event in self.once.send_message(request, **more)]
        same(len(events), 1, 'number of answers')
        return events[0]

    async def task(self, kind, **more):
        answer = await self.send(ask(kind, **more))
        same(answer.WhichOneof('payload'), 'task', 'answer')
        return answer.task

    async def stream(self, request):
        return [event async for event in self.streaming.send_message(request)]

    async def watch(self, task_id):
        request = SubscribeToTaskRequest(id=task_id)
        return [event async for event in self.streaming.subscribe(request)]

    async def get(self, task_id, **more):
        return await self.once.get_task(GetTaskRequest(id=task_id, **more))


@check()
async def a_task_completes(peer):
    task = await peer.task('tck-complete-task')
    same(TaskState.Name(task.status.state), 'TASK_STATE_COMPLETED', 'state')
    same(task.status.message.parts[0].text, 'Hello from TCK', 'status message')


@check()
async def a_message_answers(peer):
    answer = await peer.send(ask('tck-message-response'))
    same(answer.message.parts[0].text, 'Direct message response', 'text')


@check()
async def artifacts_arrive(peer):
    data = (await peer.task('tck-artifact-data')).artifacts[0].parts[0].data.struct_value
    same((data['key'], data['count']), ('value', 42), 'data')
    part = (await peer.task('tck-artifact-file')).artifacts[0].parts[0]
    same((part.filename, part.media_type), ('output.txt', 'text/plain'), 'file')


@check()
async def a_conversation_goes_on(peer):
    task = await peer.task('tck-input-required', text='one')
    same(TaskState.Name(task.status.state), 'TASK_STATE_INPUT_REQUIRED', 'state')
    await peer.task('tck-input-required', text='two', task_id=task.id)
    done = await peer.task('tck-complete-task', text='three', task_id=task.id)
    same((done.id, done.context_id), (task.id, task.context_id), 'ids')
    history = (await peer.get(task.id)).history
    said = [part.text for m in history if m.role == Role.ROLE_USER for part in m.parts]
    same(said, ['one', 'two', 'three'], 'what the user said')


@check(streams)
async def a_stream_tells_the_task(peer):
    events = await peer.stream(ask('tck-stream-001'))
    same(frames(events)[0], 'task', 'first frame')
    same(frames(events)[-2:], ['artifact_update', 'status_update'], 'last frames')
    same(last_state(events), 'TASK_STATE_COMPLETED', 'end')


@check(streams)
async def chunks_fold(peer):
    events = await peer.stream(ask('tck-stream-artifact-chunked'))
    chunks = [e.artifact_update for e in events if e.HasField('artifact_update')]
    same([(c.append, c.last_chunk) for c in chunks], [(False, False), (True, True)], 'flags')
    stored = (await peer.get(events[0].task.id)).artifacts
    same([''.join(p.text for p in a.parts) for a in stored], ['chunk-1 chunk-2'], 'stored')


@check(streams)
async def a_long_answer_has_few_parts(peer):
    events = await peer.stream(ask('portcullis-agent'))
    chunks = [e.artifact_update for e in events if e.HasField('artifact_update')]
    text = ''.join(f'{number} ' for number in range(2000))
    same(''.join(p.text for c in chunks for p in c.artifact.parts), text, 'streamed')
    parts = [p for a in (await peer.get(events[0].task.id)).artifacts for p in a.parts]
    same(''.join(p.text for p in parts), text, 'stored')
    same(len(parts) <= 20, True, f'{len(parts)} parts')


@check(streams)
async def two_watchers_see_the_same(peer):
    task = await peer.task('test-resubscribe-message-id', now=True)
    one, two = await asyncio.gather(peer.watch(task.id), peer.watch(task.id))
    same((last_state(one), last_state(two)), ('TASK_STATE_COMPLETED',) * 2, 'ends')
    same(one[0].task.id, task.id, 'first frame')
    await refused(errors.UnsupportedOperationError, peer.watch(task.id))


@check(lambda caps, required: not caps.streaming and not required)
async def streams_are_refused(peer):
    transport = peer.streaming._transport
    stream = transport.send_message_streaming(ask('tck-stream-001'))
    await refused(errors.UnsupportedOperationError, anext(stream))


@check()
async def pages_of_tasks(peer):
    context = f'pages-{uuid.uuid4().hex}'
    ids = [(await peer.task('tck-complete-task', context_id=context)).id for _ in range(5)]
    seen, token = [], ''
    while True:
        page = await peer.once.list_tasks(
            ListTasksRequest(context_id=context, page_size=2, page_token=token)
        )
        seen += [task.id for task in page.tasks]
        same(page.total_size, 5, 'total')
        token = page.next_page_token
        if not token:
            break
    same(sorted(seen), sorted(ids), 'each task once')


@check()
async def cancelling(peer):
    task = await peer.task('test-resubscribe-message-id', now=True)
    canceled = await peer.once.cancel_task(CancelTaskRequest(id=task.id))
    same(TaskState.Name(canceled.status.state), 'TASK_STATE_CANCELED', 'state')
    done = await peer.task('tck-complete-task')
    await refused(errors.TaskNotCancelableError, peer.once.cancel_task(CancelTaskRequest(id=done.id)))


@check()
async def refusals_have_their_own_errors(peer):
    await refused(errors.TaskNotFoundError, peer.get('no-such-task'))
    done = await peer.task('tck-complete-task')
    await refused(errors.UnsupportedOperationError, peer.task('tck-complete-task', task_id=done.id))
    await refused(errors.InvalidParamsError, peer.get(done.id, history_length=-1))
    odd = ask('tck-complete-task')
    odd.message.parts[0].CopyFrom(Part(raw=b'x', media_type='application/x-unsupported-tck-type'))
    await refused(errors.ContentTypeNotSupportedError, peer.send(odd))
    other = ClientCallContext(service_parameters={'A2A-Version': '99.0'})
    await refused(
        errors.VersionNotSupportedError, peer.send(ask('tck-complete-task'), context=other)
    )


@check(lambda caps, required: required)
async def a_required_extension_is_required(peer):
    await refused(errors.ExtensionSupportRequiredError, peer.send(ask('tck-complete-task')))
    context = ClientCallContext(service_parameters={'A2A-Extensions': REQUIRED})
    answer = await peer.send(ask('tck-complete-task'), context=context)
    same(TaskState.Name(answer.task.status.state), 'TASK_STATE_COMPLETED', 'state')


async def main(base):
    passed = failed = 0
    async with httpx.AsyncClient(timeout=30, trust_env=False) as http:
        card = await A2ACardResolver(http, base).get_agent_card()
        required = any(e.uri == REQUIRED and e.required for e in card.capabilities.extensions)
        same([i.protocol_binding for i in card.supported_interfaces], BINDINGS, 'interfaces')
        for binding in BINDINGS:
            peer = Peer(card, http, binding)
            for function, when in CHECKS:
                if not when(card.capabilities, required):
                    continue
                name = f'python {binding} {function.__name__}'
                try:
                    await asyncio.wait_for(function(peer), 30)
                    passed += 1
                    print('ok    ', name)
                except Exception as error:  # noqa: BLE001
                    failed += 1
                    print('FAILED', name, '--', type(error).__name__, error)
    print(f'python: {passed} passed, {failed} failed')
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(asyncio.run(main(sys.argv[1])))
