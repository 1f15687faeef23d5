#!/usr/bin/env python3
"""A server on the official Python SDK, for our client to be tried against.

usage: server.py PORT GRPC_PORT [--bare]. JSON-RPC at the root, HTTP+JSON under /rest, gRPC on its own
port, all on loopback. The prefix of a message's id, or of its text, says what the agent does; `--bare` declares no
optional capability. Ends on SIGTERM.
"""

import argparse
import asyncio

import grpc
import httpx
import uvicorn
from a2a.server.agent_execution.agent_executor import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler, GrpcHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import BasePushNotificationSender, InMemoryPushNotificationConfigStore
from a2a.server.tasks.inmemory_task_store import InMemoryTaskStore
from a2a.server.tasks.task_updater import TaskUpdater
from a2a.types import (
    AgentCapabilities,
    AgentCard,
    AgentInterface,
    AgentSkill,
    Message,
    Part,
    Role,
    Task,
    TaskState,
    TaskStatus,
    a2a_pb2_grpc,
)
from google.protobuf import json_format, struct_pb2
from starlette.applications import Starlette


def data(value):
    return Part(data=json_format.ParseDict(value, struct_pb2.Value()))


ARTIFACTS = {
    'tck-artifact-text': Part(text='Generated text content'),
    'tck-artifact-file-url': Part(url='https://example.com/output.txt', filename='output.txt', media_type='text/plain'),
    'tck-artifact-file': Part(raw=b'output', filename='output.txt', media_type='text/plain'),
    'tck-artifact-data': data({'key': 'value', 'count': 42}),
    'tck-stream-001': Part(text='Stream hello from TCK'),
    'tck-stream-003': Part(text='Stream task lifecycle'),
    'tck-stream-ordering-001': Part(text='Ordered output'),
    'tck-stream-artifact-text': Part(text='Streamed text content'),
    'tck-stream-artifact-file': Part(raw=b'output', filename='output.txt', media_type='text/plain'),
}


class Agent(AgentExecutor):
    async def execute(self, context, event_queue):
        asked = context.message.message_id
        # Not every client chooses its ids.
        if not asked.startswith(('tck-', 'test-')):
            asked = context.get_user_input()
        if asked.startswith('tck-message-response'):
            await event_queue.enqueue_event(
                Message(message_id='answer', role=Role.ROLE_AGENT, parts=[Part(text='Direct message response')])
            )
            return
        updater = TaskUpdater(event_queue, context.task_id, context.context_id)
        if context.current_task is None:
            await event_queue.enqueue_event(
                Task(
                    id=context.task_id,
                    context_id=context.context_id,
                    status=TaskStatus(state=TaskState.TASK_STATE_SUBMITTED),
                    history=[context.message],
                )
            )

        def said(text):
            return updater.new_agent_message([Part(text=text)])

        if asked.startswith('tck-input-required'):
            await updater.requires_input(said('What else?'))
        elif asked.startswith('tck-reject-task'):
            await updater.reject(said('rejected'))
        elif asked.startswith('tck-task-failure'):
            await updater.failed(said('it went wrong'))
        elif asked.startswith('tck-cancel'):
            await updater.start_work()
            await asyncio.sleep(30)
            await updater.complete()
        elif asked.startswith('test-resubscribe-message-id'):
            await updater.start_work()
            await asyncio.sleep(4)
            await updater.complete(said('Hello from TCK'))
        elif asked.startswith('tck-stream-artifact-chunked'):
            await updater.start_work()
            await updater.add_artifact([Part(text='chunk-1 ')], artifact_id='chunks', last_chunk=False)
            await updater.add_artifact([Part(text='chunk-2')], artifact_id='chunks', append=True, last_chunk=True)
            await updater.complete()
        else:
            # The longest prefix first.
            prefix = next((p for p in sorted(ARTIFACTS, key=len, reverse=True) if asked.startswith(p)), None)
            if prefix:
                await updater.start_work()
                await updater.add_artifact([ARTIFACTS[prefix]])
                await updater.complete()
            else:
                await updater.complete(said('Hello from TCK'))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


async def main():
    options = argparse.ArgumentParser()
    options.add_argument('port', type=int)
    options.add_argument('grpc_port', type=int)
    options.add_argument('--bare', action='store_true')
    options = options.parse_args()
    base = f'http://127.0.0.1:{options.port}'
    optional = not options.bare

    def interface(binding, url):
        return AgentInterface(protocol_binding=binding, protocol_version='1.0', url=url)

    card = AgentCard(
        name='official Python SDK',
        description='What the official SDK makes of an agent.',
        version='1.0.0',
        capabilities=AgentCapabilities(streaming=optional, push_notifications=optional, extended_agent_card=optional),
        default_input_modes=['text/plain', 'application/json'],
        default_output_modes=['text/plain', 'application/json'],
        skills=[AgentSkill(id='echo', name='echo', description='Does what the id says.', tags=['test'])],
        supported_interfaces=[
            interface('JSONRPC', base),
            interface('HTTP+JSON', f'{base}/rest'),
            interface('GRPC', f'127.0.0.1:{options.grpc_port}'),
        ],
    )
    configs = InMemoryPushNotificationConfigStore() if optional else None
    handler = DefaultRequestHandler(
        agent_executor=Agent(),
        task_store=InMemoryTaskStore(),
        agent_card=card,
        push_config_store=configs,
        push_sender=BasePushNotificationSender(httpx.AsyncClient(), configs) if optional else None,
        extended_agent_card=card if optional else None,
    )
    server = grpc.aio.server()
    a2a_pb2_grpc.add_A2AServiceServicer_to_server(GrpcHandler(handler), server)
    server.add_insecure_port(f'127.0.0.1:{options.grpc_port}')
    await server.start()
    routes = [
        *create_agent_card_routes(card, cache_control='public, max-age=60'),
        *create_rest_routes(handler, path_prefix='/rest'),
        *create_jsonrpc_routes(handler, rpc_url='/'),
    ]
    config = uvicorn.Config(Starlette(routes=routes), host='127.0.0.1', port=options.port, log_level='error')
    await uvicorn.Server(config).serve()
    await server.stop(1)


asyncio.run(main())
